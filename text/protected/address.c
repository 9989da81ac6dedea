#include "text/protected/address.h"

#include "text/scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define LONGEST_SCHEME 20
/* Signs of "example.org/a?b=c#d" after the name. */
#define REST_SIGNS "./-+?=&%#"
/* Bytes of such a rest within another one: a word has many of them ("a/b=" of "a/b=a/b=a/b="), and
 * each is looked at to the end. */
#define LONGEST_INNER_REST 512

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Letters of other scripts are not part of a name: those scripts write no spaces around it. */
bool dg_address_is_letter(int32_t c)
{
    return c < 0x80 ? c >= 0 && is_word((char)c) : c >= 0xC0 && c <= 0x24F;
}

/* Skips the ASCII or Latin letter, digit or "_" at s[at]; `at` if there is none. */
static size_t skip_letter(const char *s, size_t at, size_t end)
{
    size_t next = at;
    if (at >= end)
        return at;
    if ((unsigned char)s[at] < 0x80)
        return is_word(s[at]) ? at + 1 : at;
    return dg_address_is_letter(dg_scan_next(s, end, &next)) ? next : at;
}

/* Skips letters and these signs from `at` on. */
static size_t skip_name(const char *s, size_t at, size_t end, const char *signs)
{
    for (size_t next; at < end; at = next) {
        next = skip_letter(s, at, end);
        if (next == at && s[at] && strchr(signs, s[at]))
            next++;
        if (next == at)
            break;
    }
    return at;
}

static bool begins(const char *s, size_t at, size_t end, const char *with)
{
    size_t n = strlen(with);
    /* The first letters nearly always decide. OR 0x20 makes ASCII letters lower-case. */
    return end - at >= n && (s[at] | 0x20) == (with[0] | 0x20) && strncasecmp(s + at, with, n) == 0;
}

/* End of the address without punctuation that belongs to the sentence; a ")" whose "(" is in the
 * address stays. */
static size_t without_end(const char *s, size_t begin, size_t end)
{
    size_t open = 0, close = 0;
    for (size_t i = begin; i < end; i++) {
        open += s[i] == '(';
        close += s[i] == ')';
    }
    while (end > begin) {
        size_t last = end;
        int32_t c = dg_scan_prev(s, begin, &last);
        bool ends = c < 0x80 ? strchr(".,;:!?'\")]}*_", c) != NULL
                             : dg_scan_is_close(c) || dg_scan_is_terminator(c);
        if (!ends || (c == ')' && close <= open))
            break;
        close -= c == ')';
        end = last;
    }
    return end;
}

/* Skips the host or path that begins at `from`; `at` if nothing of it is left. */
static size_t skip_rest(const char *s, size_t at, size_t from, size_t end)
{
    size_t i = from;
    while (i < end && (unsigned char)s[i] > ' ' && !strchr("<>|`\"", s[i]))
        i++;
    i = without_end(s, from, i);
    return i > from ? i : at;
}

/* Skips "https://" and the like; `at` if there is none. */
static size_t skip_scheme(const char *s, size_t at, size_t end)
{
    static const char *const names[] = {"https", "http", "ftp", "ftps", "sftp", "ssh", "git", "svn",
        "ws", "wss", "file", "ldap", "ldaps", "irc", "ircs", "s3", "gs", "nfs", "smb", "rtsp",
        "redis", "postgres", "postgresql", "mysql", "mongodb", "amqp", "mqtt", "jdbc", "vscode"};
    size_t i = at;
    while (i < end && i < at + LONGEST_SCHEME && isalnum((unsigned char)s[i]))
        i++;
    if (!begins(s, i, end, "://"))
        return at;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strlen(names[k]) == i - at && strncasecmp(s + at, names[k], i - at) == 0)
            return i + 3;
    return at;
}

/* Skips "localhost" or "10.0.0.1", with its port; `at` if there is neither. */
static size_t skip_machine(const char *s, size_t at, size_t end)
{
    size_t i = at, dots = 0, digits = 0;
    unsigned octet = 0;
    bool local = begins(s, at, end, "localhost:");
    if (local)
        i = at + strlen("localhost");
    for (; !local && i < end && octet < 256 && (isdigit((unsigned char)s[i]) || s[i] == '.'); i++) {
        dots += s[i] == '.' && digits > 0 && i + 1 < end && isdigit((unsigned char)s[i + 1]);
        digits = s[i] == '.' ? 0 : digits + 1;
        octet = s[i] == '.' ? 0 : 10 * octet + (unsigned)(s[i] - '0');
    }
    while (i > at && !is_word(s[i - 1]))
        i--;
    if (!local && (dots != 3 || octet > 255)) /* "1.234.567.890" is a number */
        return at;
    size_t port = i + 1;
    while (i < end && s[i] == ':' && port < end && isdigit((unsigned char)s[port]))
        port++;
    if (port > i + 1)
        i = port;
    return local && port == i + 1 ? at : i;
}

/* Skips "10.1000/" of a DOI; `at` if none begins here. */
static size_t skip_doi(const char *s, size_t at, size_t end)
{
    size_t i = at + 3;
    if (!begins(s, at, end, "10."))
        return at;
    while (i < end && i < at + 12 && isdigit((unsigned char)s[i]))
        i++;
    return i >= at + 7 && i < end && s[i] == '/' ? i + 1 : at;
}

size_t dg_address_web(const char *s, size_t at, size_t end)
{
    static const char *const heads[] = {"www.", "mailto:", "tel:+", "doi:", "arxiv:"};
    size_t from = skip_scheme(s, at, end);
    if (from > at)
        return skip_rest(s, at, from, end);
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++)
        if (begins(s, at, end, heads[k]))
            return skip_rest(s, at, at + strlen(heads[k]), end);
    from = skip_doi(s, at, end);
    if (from > at)
        return skip_rest(s, at, from, end);
    from = skip_machine(s, at, end);
    if (from > at && from < end && s[from] == '/')
        return skip_rest(s, at, from, end);
    return from < end && from > at && is_word(s[from]) ? at : from;
}

/* Skips name.name-name from `at` on, without a dot or a hyphen at the end. */
static size_t dotted(const char *s, size_t at, size_t end)
{
    size_t i = skip_name(s, at, end, ".-");
    while (i > at && strchr(".-", s[i - 1]))
        i--;
    return i;
}

size_t dg_address_mail(const char *s, size_t at, size_t end)
{
    size_t i = skip_name(s, at, end, ".+%-");
    if (i == at || i >= end || s[i] != '@')
        return at;
    size_t host = i + 1, to = dotted(s, host, end);
    return to > host && memchr(s + host, '.', to - host) ? to : at;
}

size_t dg_address_bracketed(const char *s, size_t at, size_t end)
{
    const size_t first = at + 1;
    if (s[at] != '<' || first == end)
        return at;
    const size_t web = dg_address_web(s, first, end),
                 to = web > first ? web : dg_address_mail(s, first, end);
    return to > first && to < end && s[to] == '>' ? to + 1 : at;
}

static bool is_ending(const char *s, size_t n)
{
    static const char *const names[] = {"txt", "pdf", "html", "htm", "json", "xml", "yaml", "yml",
        "csv", "tsv", "md", "rst", "tex", "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "bmp",
        "mp3", "mp4", "wav", "ogg", "webm", "avi", "mov", "mkv", "zip", "gz", "tar", "tgz", "xz",
        "7z", "rar", "deb", "rpm", "iso", "exe", "msi", "dll", "apk", "jar", "whl", "doc", "docx",
        "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "rtf", "epub", "py", "ipynb", "js",
        "mjs", "ts", "tsx", "jsx", "css", "scss", "vue", "php", "rb", "java", "kt", "rs", "c", "h",
        "cc", "cpp", "hpp", "cs", "sh", "bat", "ps1", "ini", "conf", "cfg", "toml", "env", "lock",
        "log", "sql", "sqlite", "db", "bak", "tmp", "com", "org", "net", "edu", "gov", "io", "dev"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strlen(names[k]) == n && strncmp(s, names[k], n) == 0)
            return true;
    return false;
}

/* Returns `to` if s[at, to) is a file name such as config.txt, with a known extension (not
 * libfoo.so.1); else `at`. */
static size_t plain_file(const char *s, size_t at, size_t to)
{
    size_t dot = to;
    while (dot > at && s[dot - 1] != '.')
        dot--;
    if (to - dot == 1 && dot < at + 3)
        return at; /* "b.c" is not a C file */
    return dot > at + 1 && skip_letter(s, at, to) > at && is_ending(s + dot, to - dot) ? to : at;
}

/* Skips the start of a path: "/", "./", "../", "~/", "C:\"; `at` if none begins here. */
static size_t skip_root(const char *s, size_t at, size_t end)
{
    static const char *const roots[] = {"../", "./", "~/", "/"};
    for (size_t k = 0; k < sizeof roots / sizeof *roots; k++)
        if (begins(s, at, end, roots[k]))
            return at + strlen(roots[k]);
    bool drive =
        end - at > 3 && isalpha((unsigned char)s[at]) && s[at + 1] == ':' && s[at + 2] == '\\';
    return drive ? at + 3 : at;
}

/* Skips /etc/hosts, ~/x, C:\x. A path that begins with "/" needs two parts. */
static size_t path(const char *s, size_t at, size_t end)
{
    size_t root = skip_root(s, at, end), i = skip_name(s, root, end, "./\\-+@");
    while (i > root && strchr(".-", s[i - 1]))
        i--;
    bool rooted = root > at + 1 || (root > at && memchr(s + root, '/', i - root));
    return rooted && i > root && skip_letter(s, root, end) > root ? i : at;
}

/* True if the name that begins at s[at] follows a "/" of the same word, and so is in the rest that
 * the "/" begins. Names that a "/" follows share no bytes that this looks at. */
static bool is_in_rest(const char *s, size_t at)
{
    while (at > 0) {
        const int32_t c = dg_scan_prev(s, 0, &at);
        if (c == '/')
            return true;
        if (!dg_address_is_letter(c) && (c <= 0 || c >= 0x80 || !strchr(REST_SIGNS, c)))
            return false;
    }
    return false;
}

/* Skips the "/a?b=c" that follows the name s[at, to) of a machine, or the "/main.c" after that of a
 * folder; `at` if neither follows. */
static size_t skip_slash(const char *s, size_t at, size_t to, size_t end)
{
    const bool bounded = end - to > LONGEST_INNER_REST && is_in_rest(s, at);
    const size_t most = bounded ? to + LONGEST_INNER_REST : end;
    size_t i = skip_name(s, to, most, REST_SIGNS);
    if (i == to || (bounded && i == most))
        return at;
    while (i > to && strchr(".-?", s[i - 1]))
        i--;
    size_t last = i;
    while (last > at && s[last - 1] != '/')
        last--;
    return plain_file(s, at, to) > at || plain_file(s, last, i) > last ? i : at;
}

size_t dg_address_file(const char *s, size_t at, size_t end)
{
    size_t to = path(s, at, end);
    if (to > at)
        return to;
    to = dotted(s, at, end);
    const size_t rest = to > at && to < end && s[to] == '/' ? skip_slash(s, at, to, end) : at;
    return rest > at ? rest : plain_file(s, at, to);
}

/* Skips "#", a letter, and one or more letters, digits or "_"; not "&#x27;", "##a", "#1". */
static size_t tag(const char *s, size_t at, size_t end)
{
    const size_t first = skip_letter(s, at + 1, end);
    size_t i = skip_name(s, at + 1, end, "");
    if (first == at + 1 || isdigit((unsigned char)s[at + 1]) || s[at + 1] == '_' ||
        (at > 0 && s[at - 1] && strchr("&#", s[at - 1])))
        return at;
    while (s[i - 1] == '_')
        i--;
    return i > first ? i : at;
}

size_t dg_address_account(const char *s, size_t at, size_t end)
{
    size_t i = at + 1;
    if (s[at] == '#')
        return tag(s, at, end);
    if (s[at] != '@' || i >= end || !is_word(s[i]))
        return at;
    while (i < end && (is_word(s[i]) || s[i] == '.'))
        i++;
    while (i > at && !is_word(s[i - 1]))
        i--;
    return i > at + 1 ? i : at;
}
