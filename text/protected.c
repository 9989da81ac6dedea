#include "text/protected.h"

#include "text/scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <unicode/uchar.h>

#define EMOJI_STYLE 0xFE0F /* variation selector: the sign before it as a picture */
#define JOINER 0x200D
#define KEYCAP 0x20E3   /* a key around the sign before it */
#define LONGEST_NAME 64 /* of a placeholder */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_letter(int32_t c)
{
    return dg_scan_is_letter(c) || dg_scan_is_digit(c) || c == '_';
}

static bool begins(const char *s, size_t at, size_t end, const char *with)
{
    size_t n = strlen(with);
    return end - at >= n && strncasecmp(s + at, with, n) == 0;
}

/* Without the signs behind an address that belong to the sentence. */
static size_t without_end(const char *s, size_t begin, size_t end)
{
    while (end > begin) {
        size_t last = end;
        int32_t c = dg_scan_prev(s, begin, &last);
        bool ends = c < 0x80 ? strchr(".,;:!?'\")]}*_", c) != NULL
                             : dg_scan_is_close(c) || dg_scan_is_terminator(c);
        if (!ends)
            break;
        end = last;
    }
    return end;
}

size_t dg_protected_address(const char *s, size_t at, size_t end, const char *stop)
{
    static const char *const schemes[] = {"https://", "http://", "ftp://", "www."};
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        size_t i = at, head = strlen(schemes[k]);
        if (!begins(s, at, end, schemes[k]))
            continue;
        while (i < end && (unsigned char)s[i] > ' ' && !strchr("<>|`\"", s[i]) &&
               !(stop && end - i >= 2 && memcmp(s + i, stop, 2) == 0))
            i++;
        i = without_end(s, at + head, i);
        return i > at + head ? i : at;
    }
    return at;
}

/* name.name-name, from at; not ending in a dot or a hyphen. */
static size_t dotted(const char *s, size_t at, size_t end)
{
    size_t i = at;
    while (i < end && (is_word(s[i]) || s[i] == '.' || s[i] == '-'))
        i++;
    while (i > at && !is_word(s[i - 1]))
        i--;
    return i;
}

/* anna.b+c@example.org */
static size_t mail(const char *s, size_t at, size_t end)
{
    size_t i = at;
    while (i < end && (is_word(s[i]) || strchr(".+%-", s[i])))
        i++;
    if (i == at || i >= end || s[i] != '@')
        return at;
    size_t host = i + 1, to = dotted(s, host, end);
    return to > host && memchr(s + host, '.', to - host) ? to : at;
}

/* config.txt, libfoo.so.1 is not one of them: what is in front of the last dot, and an ending that
 * is known. */
static size_t file(const char *s, size_t at, size_t end)
{
    static const char *const endings[] = {"txt", "pdf", "html", "htm", "json", "xml", "yaml", "yml",
        "csv", "md", "png", "jpg", "jpeg", "gif", "svg", "mp3", "mp4", "zip", "gz", "tar", "deb",
        "exe", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "py", "js", "sh", "ini", "conf",
        "cfg", "log", "sql", "com", "org", "net"};
    size_t to = dotted(s, at, end), dot = to;
    while (dot > at && s[dot - 1] != '.')
        dot--;
    if (dot <= at + 1 || !isalnum((unsigned char)s[at]))
        return at;
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (strlen(endings[k]) == to - dot && strncmp(s + dot, endings[k], to - dot) == 0)
            return to;
    return at;
}

/* @name */
static size_t account(const char *s, size_t at, size_t end)
{
    size_t i = at + 1;
    if (s[at] != '@')
        return at;
    while (i < end && (is_word(s[i]) || s[i] == '.'))
        i++;
    while (i > at && !is_word(s[i - 1]))
        i--;
    return i > at + 1 ? i : at;
}

/* %s, %d, %1$s, %.2f, %(name)s */
static size_t percent(const char *s, size_t at, size_t end)
{
    size_t i = at + 1;
    if (s[at] != '%' || (at > 0 && isdigit((unsigned char)s[at - 1])))
        return at;
    if (i < end && s[i] == '(') {
        while (i < end && i < at + LONGEST_NAME && s[i] != ')' && !isspace((unsigned char)s[i]))
            i++;
        i += i < end;
    }
    while (i < end && (isdigit((unsigned char)s[i]) || strchr("$.-+#l", s[i])))
        i++;
    bool letter = i < end && strchr("sdifgxucp@", s[i]) && (i + 1 == end || !is_word(s[i + 1]));
    return letter ? i + 1 : at;
}

/* {name}, {0}, {{name}}, ${name} */
static size_t braces(const char *s, size_t at, size_t end)
{
    size_t i = at + (s[at] == '$'), open = 0;
    while (i < end && s[i] == '{' && open < 2)
        i++, open++;
    size_t name = i;
    while (open > 0 && i < end && i < name + LONGEST_NAME && (is_word(s[i]) || s[i] == '.'))
        i++;
    if (i == name)
        return at;
    for (; open > 0 && i < end && s[i] == '}'; open--)
        i++;
    return open == 0 ? i : at;
}

static bool is_picture(int32_t c)
{
    return c > 0x7F && u_hasBinaryProperty(c, UCHAR_EMOJI_PRESENTATION);
}

/* 1️⃣, #⃣: behind it, or at. */
static size_t keycap(const char *s, size_t at, size_t end)
{
    size_t i = at + 1;
    if (at >= end || !strchr("0123456789#*", s[at]))
        return at;
    int32_t c = i < end ? dg_scan_next(s, end, &i) : 0;
    if (c == EMOJI_STYLE && i < end)
        c = dg_scan_next(s, end, &i);
    return c == KEYCAP ? i : at;
}

/* The letters of a flag's region: 🏴 with them behind it is England's. */
static bool is_tag(int32_t c)
{
    return c >= 0xE0020 && c <= 0xE007F;
}

/* One emoji with what belongs to it, or several without anything between them. */
static size_t emoji(const char *s, size_t at, size_t end)
{
    size_t i = at, to = at;
    bool joined = false;
    while (i < end) {
        if (keycap(s, i, end) > i) {
            to = i = keycap(s, i, end);
            continue;
        }
        int32_t c = dg_scan_next(s, end, &i);
        bool styled = c > 0x7F && dg_scan_peek(s, i, end) == EMOJI_STYLE &&
                      u_hasBinaryProperty(c, UCHAR_EMOJI);
        bool part = to > at && (c == EMOJI_STYLE || c == JOINER || joined || is_tag(c) ||
                                   u_hasBinaryProperty(c, UCHAR_EMOJI_MODIFIER));
        if (!is_picture(c) && !styled && !part)
            break;
        joined = c == JOINER;
        to = i;
    }
    return to;
}

static size_t protected_at(const char *s, size_t at, size_t end)
{
    typedef size_t taker(const char *s, size_t at, size_t end);
    static taker *const after_word[] = {percent, braces, emoji};
    static taker *const first_in_word[] = {mail, file, account};
    size_t to = at, before = at;
    int32_t c = at > 0 ? dg_scan_prev(s, 0, &before) : ' ';
    bool in_word = is_letter(c) || (c < 0x80 && strchr(".-@/%+", c));
    if (!in_word) /* it goes on to where no word does; a "_" at its end is left out of it, and none
                     of a word */
        to = dg_protected_address(s, at, end, NULL);
    for (size_t k = 0; to == at && !in_word && k < sizeof first_in_word / sizeof *first_in_word;
         k++) {
        to = first_in_word[k](s, at, end);
        if (to > at && is_letter(dg_scan_peek(s, to, end)))
            to = at; /* part of a word that is none of them */
    }
    for (size_t k = 0; to == at && k < sizeof after_word / sizeof *after_word; k++)
        to = after_word[k](s, at, end);
    return to;
}

size_t dg_protected_next(const char *s, size_t n, size_t from, size_t *begin)
{
    for (size_t at = from; at < n; dg_scan_next(s, n, &at)) {
        size_t to = protected_at(s, at, n);
        if (to > at) {
            *begin = at;
            return to;
        }
    }
    return 0;
}
