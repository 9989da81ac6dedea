#include "documents/strings/escapes.h"

#include "text/scan.h"
#include "text/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits after \u at s[at]; -1: they are not there. */
static int32_t unit(const char *s, size_t at, size_t n)
{
    int32_t c = 0;
    for (size_t i = at; i < at + 4; i++) {
        if (i >= n || hex(s[i]) < 0)
            return -1;
        c = c << 4 | hex(s[i]);
    }
    return c;
}

/* XML, unlike CDATA. */
static bool is_android_xml(enum dg_escapes e)
{
    return e == DG_ESCAPES_ANDROID || e == DG_ESCAPES_ANDROID_QUOTED;
}

static bool is_android(enum dg_escapes e)
{
    return is_android_xml(e) || e == DG_ESCAPES_ANDROID_TEXT || e == DG_ESCAPES_ANDROID_CDATA;
}

/* Adds a character that is written as \uXXXX. */
static void add_decoded(enum dg_escapes e, struct dg_buffer *out, uint32_t c)
{
    if (is_android_xml(e) && (c == '&' || c == '<' || c == '>'))
        dg_buffer_adds(out, c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;");
    else
        dg_utf8_add(c, out);
}

/* Reads \uXXXX from s[at], the byte after the "u", on; returns the number of bytes it takes. Half a
 * surrogate pair, or U+0000, writes nothing. */
static size_t read_unit(
    enum dg_escapes e, const char *s, size_t at, size_t n, struct dg_buffer *out)
{
    int32_t c = unit(s, at, n), low;
    if (c < 0)
        return 0;
    if (c >= 0xD800 && c < 0xDC00 && at + 6 <= n && s[at + 4] == '\\' &&
        (s[at + 5] | 0x20) == 'u' && (low = unit(s, at + 6, n)) >= 0xDC00 && low < 0xE000) {
        dg_utf8_add(0x10000 + ((uint32_t)(c - 0xD800) << 10) + (uint32_t)(low - 0xDC00), out);
        return 10;
    }
    if (c > 0 && (c < 0xD800 || c > 0xDFFF))
        add_decoded(e, out, (uint32_t)c);
    return 4;
}

static bool is_properties(enum dg_escapes e)
{
    return e == DG_ESCAPES_PROPERTIES || e == DG_ESCAPES_ASCII;
}

/* What a letter after a backslash means. */
static char read_letter(enum dg_escapes e, char c)
{
    static const char letters[] = "ntrfbav", meant[] = "\n\t\r\f\b\a\v";
    const char *at = c ? strchr(letters, c) : NULL;
    const bool known = at && (e == DG_ESCAPES_C || (c != 'a' && c != 'v'));
    return known ? meant[at - letters] : c;
}

/* The end of \303 or \xC3 at s[at]; `at`: neither is there, or it is no byte but NUL. */
static size_t read_byte(const char *s, size_t at, size_t n, unsigned *byte)
{
    const bool is_hex = at + 1 < n && s[at + 1] == 'x';
    const size_t first = at + 1 + is_hex;
    size_t i = first;
    *byte = 0;
    if (at >= n || s[at] != '\\')
        return at;
    while (i < n && *byte <= 0xFF &&
           (is_hex ? hex(s[i]) >= 0 : i < first + 3 && s[i] >= '0' && s[i] <= '7'))
        *byte = *byte * (is_hex ? 16 : 8) + (unsigned)hex(s[i++]);
    return i > first && *byte > 0 && *byte <= 0xFF ? i : at;
}

/* Appends the characters of which s[at] and what follows has the bytes, as C's \303\244; bytes that
 * are no characters lose their backslashes. Returns the end; `at`: there are none. */
static size_t read_bytes(const char *s, size_t at, size_t n, struct dg_buffer *out)
{
    const size_t from = out->len;
    size_t i = at;
    unsigned byte;
    for (size_t to; (to = read_byte(s, i, n, &byte)) > i; i = to) {
        const char c = (char)byte;
        dg_buffer_add(out, &c, 1);
    }
    if (i == at || out->failed || !dg_utf8_check(out->data + from, out->len - from, NULL))
        return i;
    out->len = from;
    for (size_t k = at; k < i; k++)
        if (s[k] != '\\')
            dg_buffer_add(out, s + k, 1);
    return i;
}

/* ---- PHP ---- */

static bool is_php(enum dg_escapes e)
{
    return e == DG_ESCAPES_PHP_SINGLE || e == DG_ESCAPES_PHP_DOUBLE;
}

static const char php_letters[] = "nrtvf", php_meant[] = "\n\r\t\v\f";

/* Reads \u{1F415}, which begins at s[at]; returns the byte after it, `at`: it is none. */
static size_t read_code_point(const char *s, size_t at, size_t n, struct dg_buffer *out)
{
    uint32_t c = 0;
    size_t i = at + 3;
    if (n - at < 5 || s[at + 1] != 'u' || s[at + 2] != '{')
        return at;
    for (; i < n && hex(s[i]) >= 0 && c <= 0x10FFFF; i++)
        c = c << 4 | (uint32_t)hex(s[i]);
    if (i >= n || s[i] != '}' || c == 0 || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        return at;
    dg_utf8_add(c, out);
    return i + 1;
}

/* A backslash before any other character is one. */
static void read_php(enum dg_escapes e, const char *s, size_t n, struct dg_buffer *out)
{
    const bool doubled = e == DG_ESCAPES_PHP_DOUBLE;
    for (size_t i = 0, next; i < n; i = next) {
        const char c = s[i] == '\\' && i + 1 < n ? s[i + 1] : '\0';
        const char *letter = doubled && c ? strchr(php_letters, c) : NULL;
        next = doubled && c ? read_code_point(s, i, n, out) : i;
        if (next > i)
            continue;
        const bool stays = c && strchr(doubled ? "\\\"$" : "\\'", c);
        next = i + 1 + (letter || stays);
        dg_buffer_add(out, letter ? php_meant + (letter - php_letters) : s + next - 1, 1);
    }
}

/* A name or "{" follows it, or it follows "{". */
bool dg_escapes_is_variable(const char *s, size_t i, size_t n)
{
    const char next = i + 1 < n ? s[i + 1] : '\0', before = i > 0 ? s[i - 1] : '\0';
    return s[i] == '$' && (before == '{' || next == '{' || next == '_' || (next & 0x80) ||
                              ((next | 0x20) >= 'a' && (next | 0x20) <= 'z'));
}

static void write_php(enum dg_escapes e, const char *s, size_t n, struct dg_buffer *out)
{
    const bool doubled = e == DG_ESCAPES_PHP_DOUBLE;
    for (size_t i = 0; i < n; i++) {
        const char *meant = doubled && s[i] ? strchr(php_meant, s[i]) : NULL;
        if (meant)
            dg_buffer_addf(out, "\\%c", php_letters[meant - php_meant]);
        else if (s[i] == '\\' || s[i] == (doubled ? '"' : '\'') ||
                 (doubled && dg_escapes_is_variable(s, i, n)))
            dg_buffer_addf(out, "\\%c", s[i]);
        else
            dg_buffer_add(out, s + i, 1);
    }
}

void dg_escapes_read(enum dg_escapes e, const char *s, size_t n, struct dg_buffer *out)
{
    if (is_php(e)) {
        read_php(e, s, n, out);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '\\' || i + 1 >= n) {
            dg_buffer_add(out, s + i, 1);
            continue;
        }
        const size_t bytes = e == DG_ESCAPES_C ? read_bytes(s, i, n, out) : i;
        if (bytes > i) {
            i = bytes - 1;
            continue;
        }
        char c = s[++i];
        if (c == 'u' || c == 'U') {
            i += read_unit(e, s, i + 1, n, out);
        } else if (c == '\n' || c == '\r') { /* a line of properties continues */
            i += c == '\r' && i + 1 < n && s[i + 1] == '\n';
            while (is_properties(e) && i + 1 < n && strchr(" \t\f", s[i + 1]))
                i++;
        } else {
            const char plain = read_letter(e, c);
            dg_buffer_add(out, &plain, 1);
        }
    }
}

static const char *escape_of(enum dg_escapes e, char c, bool first)
{
    switch (c) {
    case '\n': return "\\n";
    case '\t': return e == DG_ESCAPES_ANDROID_QUOTED ? NULL : "\\t";
    case '\r': return "\\r";
    case '\f': return "\\f";
    case '\b': return "\\b";
    case '\a': return e == DG_ESCAPES_C ? "\\a" : NULL;
    case '\v': return e == DG_ESCAPES_C ? "\\v" : NULL;
    case '\\': return "\\\\";
    case '"': return is_properties(e) ? NULL : "\\\"";
    case '\'': return is_android(e) ? "\\'" : NULL;
    case ' ': return first && is_properties(e) ? "\\ " : NULL;
    case '@': return first && is_android(e) ? "\\@" : NULL;
    case '?': return first && is_android(e) ? "\\?" : NULL;
    default: return NULL;
    }
}

/* True for a space that Android would not show: at an end, or after another. */
static bool is_hidden(enum dg_escapes e, const char *s, size_t i, size_t n)
{
    return is_android(e) && e != DG_ESCAPES_ANDROID_QUOTED && s[i] == ' ' &&
           (i == 0 || i + 1 == n || s[i - 1] == ' ');
}

/* True if control characters are written as \uXXXX: JSON and CDATA cannot hold them. Other strings
 * of Android with one stay as they are. */
static bool has_units(enum dg_escapes e)
{
    return e == DG_ESCAPES_JSON || e == DG_ESCAPES_ANDROID_CDATA;
}

/* The character at s[*i] as \uXXXX. */
static void write_units(const char *s, size_t n, size_t *i, struct dg_buffer *out)
{
    const uint32_t c = (uint32_t)dg_scan_next(s, n, i);
    --*i;
    if (c >= 0x10000)
        dg_buffer_addf(out, "\\u%04X\\u%04X", 0xD800 + ((c - 0x10000) >> 10),
            0xDC00 + ((c - 0x10000) & 0x3FF));
    else
        dg_buffer_addf(out, "\\u%04X", c);
}

/* A tag as it is, with control characters, which XML cannot hold, as \uXXXX. */
static void write_tag(enum dg_escapes e, const char *s, size_t n, struct dg_buffer *out)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < 0x20 && has_units(e) && !strchr("\t\r\n", s[i]))
            dg_buffer_addf(out, "\\u%04x", (unsigned char)s[i]);
        else
            dg_buffer_add(out, s + i, 1);
}

static void write_line(enum dg_escapes e, const char *s, size_t n, struct dg_buffer *out)
{
    for (size_t i = 0; i < n; i++) {
        const char *escape = is_hidden(e, s, i, n) ? "\\u0020" : escape_of(e, s[i], i == 0);
        const bool tags = is_android(e) && e != DG_ESCAPES_ANDROID_TEXT;
        const char *tag = tags && s[i] == '<' ? memchr(s + i, '>', n - i) : NULL;
        if (tag) {
            write_tag(e, s + i, (size_t)(tag - s) + 1 - i, out);
            i = (size_t)(tag - s);
        } else if (escape) {
            dg_buffer_adds(out, escape);
        } else if (e == DG_ESCAPES_ASCII && (unsigned char)s[i] >= 0x80) {
            write_units(s, n, &i, out);
        } else if ((unsigned char)s[i] < 0x20 && has_units(e)) {
            dg_buffer_addf(out, "\\u%04x", (unsigned char)s[i]);
        } else if ((unsigned char)s[i] < 0x20 && e == DG_ESCAPES_C) {
            dg_buffer_addf(out, "\\%03o", (unsigned char)s[i]);
        } else {
            dg_buffer_add(out, s + i, 1);
        }
    }
}

/* gettext's notation: for several lines, "" and then one string for each line. */
static void write_po(const char *s, size_t n, const char *line_end, struct dg_buffer *out)
{
    const char *first = memchr(s, '\n', n);
    const bool several = first && (size_t)(first - s) + 1 < n;
    if (several)
        dg_buffer_addf(out, "\"\"%s", line_end);
    for (size_t at = 0; at < n || n == 0;) {
        const size_t to = several ? dg_scan_after(s, at, n, "\n") : n;
        dg_buffer_addf(out, "%s\"", at > 0 ? line_end : "");
        write_line(DG_ESCAPES_C, s + at, to - at, out);
        dg_buffer_adds(out, "\"");
        if (n == 0)
            break;
        at = to;
    }
}

static void write_xml(enum dg_escapes e, const char *s, size_t n, struct dg_buffer *out)
{
    const bool quotes = e == DG_ESCAPES_LINGUIST;
    for (size_t i = 0; i < n; i++) {
        const char *name = s[i] == '&'              ? "&amp;"
                           : s[i] == '<'            ? "&lt;"
                           : s[i] == '>'            ? "&gt;"
                           : quotes && s[i] == '"'  ? "&quot;"
                           : quotes && s[i] == '\'' ? "&apos;"
                                                    : NULL;
        dg_buffer_add(out, name ? name : s + i, name ? strlen(name) : 1);
    }
}

/* A section cannot have "]]>": another one begins within it. */
static void write_cdata(const char *s, size_t n, struct dg_buffer *out)
{
    for (const char *end; (end = memmem(s, n, "]]>", 3)); n -= (size_t)(end + 2 - s), s = end + 2) {
        dg_buffer_add(out, s, (size_t)(end + 2 - s));
        dg_buffer_adds(out, "]]><![CDATA[");
    }
    dg_buffer_add(out, s, n);
}

/* Text in Android's XML: its own escapes, and those of XML. */
static void write_android_text(const char *s, size_t n, struct dg_buffer *out)
{
    struct dg_buffer line = {0};
    write_line(DG_ESCAPES_ANDROID_TEXT, s, n, &line);
    if (line.data)
        write_xml(DG_ESCAPES_XML, line.data, line.len, out);
    out->failed = out->failed || line.failed;
    dg_buffer_deinit(&line);
}

void dg_escapes_write(enum dg_escapes e, const char *s, size_t n, struct dg_buffer *out)
{
    if (e == DG_ESCAPES_PO || e == DG_ESCAPES_PO_CRLF)
        write_po(s, n, e == DG_ESCAPES_PO ? "\n" : "\r\n", out);
    else if (e == DG_ESCAPES_ANDROID_TEXT)
        write_android_text(s, n, out);
    else if (e == DG_ESCAPES_XML || e == DG_ESCAPES_LINGUIST)
        write_xml(e, s, n, out);
    else if (e == DG_ESCAPES_CDATA)
        write_cdata(s, n, out);
    else if (is_php(e))
        write_php(e, s, n, out);
    else
        write_line(e, s, n, out);
}
