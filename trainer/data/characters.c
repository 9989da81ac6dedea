#include "trainer/data/characters.h"

#include "text/scan.h"

#include <stddef.h>

/* First and last code point of each run. Characters that NFC would rewrite are not listed (U+0149
 * has only a compatibility decomposition: NFC keeps it, so it stays). */
static const struct {
    uint32_t first, last;
} runs[] = {
    {0x0021, 0x007E}, /* ASCII */
    {0x00A1, 0x00AC}, /* Latin-1 without the soft hyphen */
    {0x00AE, 0x00FF},
    {0x0100, 0x017F}, /* Latin Extended-A */
    {0x0192, 0x0192}, /* ƒ */
    {0x0218, 0x021B}, /* Ș ș Ț ț */
    {0x0391, 0x03A1}, /* Greek */
    {0x03A3, 0x03A9},
    {0x03B1, 0x03C9},
    {0x1E9E, 0x1E9E}, /* ẞ */
    {0x2010, 0x2015}, /* hyphens and dashes */
    {0x2018, 0x201E}, /* quotation marks */
    {0x2020, 0x2022}, /* † ‡ • */
    {0x2026, 0x2026}, /* … */
    {0x2030, 0x2030}, /* ‰ */
    {0x2032, 0x2033}, /* ′ ″ */
    {0x2039, 0x203A}, /* ‹ › */
    {0x2044, 0x2044}, /* ⁄ */
    {0x2070, 0x2071}, /* superscripts and subscripts */
    {0x2074, 0x208E},
    {0x20A3, 0x20A4}, /* currencies */
    {0x20A6, 0x20A6},
    {0x20A9, 0x20AC},
    {0x20B1, 0x20B1},
    {0x20B4, 0x20B4},
    {0x20B9, 0x20BA},
    {0x20BD, 0x20BD},
    {0x20BF, 0x20BF},
    {0x2113, 0x2113}, /* ℓ */
    {0x2116, 0x2116}, /* № */
    {0x2120, 0x2122}, /* ℠ ℡ ™ */
    {0x2150, 0x215E}, /* fractions */
    {0x2190, 0x2195}, /* arrows */
    {0x21D0, 0x21D4},
    {0x2200, 0x2213}, /* mathematics */
    {0x2215, 0x2215},
    {0x2217, 0x2217},
    {0x2219, 0x221E},
    {0x2220, 0x2220},
    {0x2225, 0x222B},
    {0x2234, 0x2235},
    {0x223C, 0x223C},
    {0x2245, 0x2245},
    {0x2248, 0x2248},
    {0x2260, 0x2262},
    {0x2264, 0x2265},
    {0x226A, 0x226B},
    {0x2282, 0x2287},
    {0x2295, 0x2297},
    {0x22A5, 0x22A5},
    {0x22C5, 0x22C5},
    {0x25A0, 0x25A1}, /* shapes and signs */
    {0x25CF, 0x25CF},
    {0x2605, 0x2606},
    {0x2640, 0x2640},
    {0x2642, 0x2642},
    {0x266A, 0x266A},
    {0x2713, 0x2714},
    {0x2717, 0x2717},
};

uint32_t dg_characters_count(void)
{
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        n += runs[i].last - runs[i].first + 1;
    return n;
}

uint32_t dg_characters_at(uint32_t i)
{
    size_t run = 0;
    while (i > runs[run].last - runs[run].first) {
        i -= runs[run].last - runs[run].first + 1;
        run++;
    }
    return runs[run].first + i;
}

void dg_characters_add(uint32_t c, struct dg_buffer *out)
{
    const char bytes[3] = {
        (char)(0xE0 | c >> 12), (char)(0x80 | (c >> 6 & 0x3F)), (char)(0x80 | (c & 0x3F))};
    const char two[2] = {(char)(0xC0 | c >> 6), bytes[2]}, one = (char)c;
    if (c < 0x80)
        dg_buffer_add(out, &one, 1);
    else if (c < 0x800)
        dg_buffer_add(out, two, 2);
    else
        dg_buffer_add(out, bytes, 3);
}

/* Returns the index of c in the list; -1: not listed. */
static int64_t find(uint32_t c)
{
    size_t low = 0, high = sizeof runs / sizeof runs[0];
    int64_t at = 0;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (runs[middle].last < c)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == sizeof runs / sizeof runs[0] || c < runs[low].first)
        return -1;
    for (size_t i = 0; i < low; i++)
        at += runs[i].last - runs[i].first + 1;
    return at + (int64_t)(c - runs[low].first);
}

void dg_characters_tally(const char *text, size_t n, uint64_t *seen)
{
    for (size_t i = 0; i < n;) {
        if ((unsigned char)text[i] < 0x80) {
            i++;
            continue;
        }
        const int64_t at = find((uint32_t)dg_scan_next(text, n, &i));
        if (at >= 0)
            seen[at]++;
    }
}

void dg_characters_seldom(const uint64_t *seen, struct dg_buffer *out)
{
    for (uint32_t i = 0; i < dg_characters_count(); i++)
        if (dg_characters_at(i) >= 0x80 && seen[i] < DG_CHARACTERS_SELDOM)
            dg_characters_add(dg_characters_at(i), out);
}
