#include "text/scan.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#define VIRAMA 9 /* Unicode's combining class */

/* ICU's macro narrows bytes as it goes. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
int32_t dg_scan_next(const char *s, size_t n, size_t *i)
{
    UChar32 c;
    U8_NEXT(s, *i, n, c);
    return c;
}
#pragma GCC diagnostic pop

int32_t dg_scan_prev(const char *s, size_t start, size_t *i)
{
    /* U8_PREV wants an int32_t index: no code point needs more than the last four bytes. */
    size_t base = *i - start > U8_MAX_LENGTH ? *i - U8_MAX_LENGTH : start;
    int32_t k = (int32_t)(*i - base);
    const uint8_t *tail = (const uint8_t *)s + base;
    UChar32 c;
    U8_PREV(tail, 0, k, c);
    *i = base + (size_t)k;
    return c;
}

int32_t dg_scan_peek(const char *s, size_t i, size_t end)
{
    return i < end ? dg_scan_next(s, end, &i) : 0;
}

bool dg_scan_is_space(int32_t c)
{
    if (c < 0x80)
        return c == ' ' || (c >= '\t' && c <= '\r');
    return c == 0x200B || c == 0xFEFF || u_isUWhiteSpace(c);
}

bool dg_scan_is_line_end(int32_t c)
{
    return (c >= '\n' && c <= '\r') || c == 0x85 || c == 0x2028 || c == 0x2029;
}

/* ICU is asked only about characters beyond ASCII: most characters are ASCII, and each is
 * classified about ten times. tests/unit/test_scan.c checks that both ways agree. */
static bool is_ascii(int32_t c)
{
    return c >= 0 && c < 0x80;
}

static bool is_ascii_lower(int32_t c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_ascii_upper(int32_t c)
{
    return c >= 'A' && c <= 'Z';
}

static int32_t sentence_class(int32_t c)
{
    return c < 0 ? U_SB_OTHER : u_getIntPropertyValue(c, UCHAR_SENTENCE_BREAK);
}

bool dg_scan_is_terminator(int32_t c)
{
    if (is_ascii(c))
        return c == '.' || c == '!' || c == '?';
    int32_t k = sentence_class(c);
    return k == U_SB_ATERM || k == U_SB_STERM || c == 0x2026;
}

bool dg_scan_is_close(int32_t c)
{
    return sentence_class(c) == U_SB_CLOSE;
}

bool dg_scan_is_opener(int32_t c)
{
    int8_t k = c < 0 ? U_UNASSIGNED : u_charType(c);
    return k == U_START_PUNCTUATION || k == U_INITIAL_PUNCTUATION;
}

bool dg_scan_is_attached(int32_t c)
{
    if (is_ascii(c))
        return false;
    int32_t k = sentence_class(c);
    return k == U_SB_EXTEND || k == U_SB_FORMAT;
}

static bool is_joinable(int32_t c)
{
    return dg_scan_is_letter(c) || dg_scan_is_digit(c) ||
           (c > 0x7F &&
               ((U_MASK(u_charType(c)) & U_GC_M_MASK) != 0 || u_hasBinaryProperty(c, UCHAR_EMOJI)));
}

bool dg_scan_joins(int32_t before, int32_t after)
{
    const bool virama = before > 0x7F && u_getCombiningClass(before) == VIRAMA;
    return virama || (is_joinable(before) && is_joinable(after));
}

bool dg_scan_is_letter(int32_t c)
{
    return is_ascii(c) ? is_ascii_lower(c) || is_ascii_upper(c) : c > 0 && u_isalpha(c);
}

bool dg_scan_is_digit(int32_t c)
{
    return is_ascii(c) ? c >= '0' && c <= '9' : c > 0 && u_isdigit(c);
}

bool dg_scan_is_upper(int32_t c)
{
    return is_ascii(c) ? is_ascii_upper(c) : c > 0 && (u_isUUppercase(c) || u_istitle(c));
}

bool dg_scan_is_lower(int32_t c)
{
    return is_ascii(c) ? is_ascii_lower(c) : c > 0 && u_isULowercase(c);
}

bool dg_scan_is_uncased(int32_t c)
{
    return c >= 0x80 && u_charType(c) == U_OTHER_LETTER;
}

bool dg_scan_is_unspaced(int32_t c)
{
    return (c >= 0x0E00 && c < 0x0F00) || (c >= 0x1000 && c < 0x10A0) ||
           (c >= 0x1780 && c < 0x1800) || (c >= 0x2E80 && c < 0xA4D0) ||
           (c >= 0xF900 && c < 0xFB00) || c >= 0x20000;
}

bool dg_scan_is_full_width(int32_t c)
{
    return c >= 0xFF00 && c < 0xFFF0;
}

size_t dg_scan_columns(int32_t c)
{
    if (is_ascii(c) || c < 0)
        return 1;
    if (dg_scan_is_attached(c))
        return 0;
    const int32_t width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
    return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

size_t dg_scan_skip_space(const char *s, size_t i, size_t end)
{
    while (i < end) {
        size_t next = i;
        if (!dg_scan_is_space(dg_scan_next(s, end, &next)))
            break;
        i = next;
    }
    return i;
}

size_t dg_scan_skip_ascii_space(const char *s, size_t i, size_t end)
{
    while (i < end && isspace((unsigned char)s[i]))
        i++;
    return i;
}

size_t dg_scan_skip_ascii_digits(const char *s, size_t i, size_t end)
{
    while (i < end && isdigit((unsigned char)s[i]))
        i++;
    return i;
}

size_t dg_scan_trim_space(const char *s, size_t begin, size_t end)
{
    while (end > begin) {
        size_t prev = end;
        if (!dg_scan_is_space(dg_scan_prev(s, begin, &prev)))
            break;
        end = prev;
    }
    return end;
}

size_t dg_scan_find_letters(const char *s, size_t at, size_t end, const char *part)
{
    const size_t len = strlen(part);
    for (; end - at >= len; at++)
        if ((s[at] | 0x20) == (part[0] | 0x20) && strncasecmp(s + at, part, len) == 0)
            return at;
    return end;
}

bool dg_scan_has(const char *s, size_t n, const char *part)
{
    return dg_scan_find_letters(s, 0, n, part) < n;
}

bool dg_scan_begins(const char *s, size_t at, size_t end, const char *with)
{
    const size_t n = strlen(with);
    return end - at >= n && memcmp(s + at, with, n) == 0;
}

size_t dg_scan_find(const char *s, size_t at, size_t end, const char *what)
{
    const char *found = at < end ? memmem(s + at, end - at, what, strlen(what)) : NULL;
    return found ? (size_t)(found - s) : end;
}

size_t dg_scan_after(const char *s, size_t at, size_t end, const char *what)
{
    const size_t found = dg_scan_find(s, at, end, what);
    return found < end ? found + strlen(what) : end;
}
