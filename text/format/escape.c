#include "text/format/escape.h"

#include "text/scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/utf8.h>

#define LONGEST_NAME 32 /* HTML's longest is CounterClockwiseContourIntegral */

size_t dg_escape_entity_end(const char *s, size_t at, size_t end)
{
    size_t i = at + 1;
    if (i < end && s[i] == '#')
        i++;
    size_t name = i;
    while (i < end && i - name < LONGEST_NAME && isalnum((unsigned char)s[i]))
        i++;
    return i > name && i < end && s[i] == ';' ? i + 1 : at;
}

/* Character for a name: those of ISO 8859-1 from U+00A0 on, and the most common others; 0:
 * unknown. */
static int32_t by_name(const char *s, size_t n)
{
    static const char *const latin[] = {"nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar",
        "sect", "uml", "copy", "ordf", "laquo", "not", "shy", "reg", "macr", "deg", "plusmn",
        "sup2", "sup3", "acute", "micro", "para", "middot", "cedil", "sup1", "ordm", "raquo",
        "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc", "Atilde", "Auml",
        "Aring", "AElig", "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute",
        "Icirc", "Iuml", "ETH", "Ntilde", "Ograve", "Oacute", "Ocirc", "Otilde", "Ouml", "times",
        "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN", "szlig", "agrave",
        "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil", "egrave", "eacute",
        "ecirc", "euml", "igrave", "iacute", "icirc", "iuml", "eth", "ntilde", "ograve", "oacute",
        "ocirc", "otilde", "ouml", "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml",
        "yacute", "thorn", "yuml"};
    static const struct {
        const char *name;
        int32_t c;
    } more[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''},
        {"ndash", 0x2013}, {"mdash", 0x2014}, {"lsquo", 0x2018}, {"rsquo", 0x2019},
        {"ldquo", 0x201C}, {"rdquo", 0x201D}, {"bdquo", 0x201E}, {"hellip", 0x2026},
        {"bull", 0x2022}, {"euro", 0x20AC}, {"trade", 0x2122}, {"rarr", 0x2192}, {"larr", 0x2190},
        {"OElig", 0x152}, {"oelig", 0x153}, {"Scaron", 0x160}, {"scaron", 0x161}};
    for (size_t i = 0; i < sizeof latin / sizeof *latin; i++)
        if (strlen(latin[i]) == n && memcmp(latin[i], s, n) == 0)
            return 0xA0 + (int32_t)i;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (strlen(more[i].name) == n && memcmp(more[i].name, s, n) == 0)
            return more[i].c;
    return 0;
}

/* The character that the reference s[n] stands for; 0: unknown. */
static int32_t meaning_of(const char *s, size_t n)
{
    if (s[1] != '#')
        return by_name(s + 1, n - 2);
    bool hex = s[2] == 'x' || s[2] == 'X';
    unsigned long c = strtoul(s + 2 + hex, NULL, hex ? 16 : 10);
    return c >= ' ' && c <= 0x10FFFF && !U_IS_SURROGATE(c) ? (int32_t)c : 0;
}

/* Add the reference s[begin, end), which stands for c (0: unknown). */
static void add_reference(struct dg_document *d, const char *s, size_t begin, size_t end, int32_t c,
    enum dg_mark_kind kind)
{
    struct dg_mark m = {.kind = kind, .begin = begin, .end = end};
    uint8_t shown[U8_MAX_LENGTH];
    if (c == 0) {
        m.kind = DG_MARK_PROTECTED;
        m.len = end - begin;
        dg_document_mark(d, m, s + begin);
        return;
    }
    if (dg_scan_is_space(c)) {
        m.kind = DG_MARK_BREAK;
        m.len = 1;
        dg_document_mark(d, m, " ");
        return;
    }
    U8_APPEND_UNSAFE(shown, m.len, (uint32_t)c);
    dg_document_mark(d, m, (const char *)shown);
}

void dg_escape_entity(struct dg_document *d, const char *s, size_t begin, size_t end)
{
    int32_t c = meaning_of(s + begin, end - begin);
    add_reference(d, s, begin, end, c, dg_scan_is_letter(c) ? DG_MARK_ESCAPE : DG_MARK_PROTECTED);
}

void dg_escape_reference(struct dg_document *d, const char *s, size_t begin, size_t end)
{
    int32_t c = meaning_of(s + begin, end - begin);
    add_reference(d, s, begin, end, c, c == '<' || c == '>' ? DG_MARK_PROTECTED : DG_MARK_ESCAPE);
}
