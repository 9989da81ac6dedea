#include "text/detect/features.h"

#include "text/scan.h"

#include <stdbool.h>
#include <unicode/uchar.h>

enum {
    MAX_LETTERS = 40, /* of a word: the rest of a longer one is left out */
    MAX_GRAM = 5,
    EDGE = ' ', /* before the first and after the last letter */
};

#define HASH_SEED 2166136261u

/* FNV-1a over code points. */
static uint32_t mix(uint32_t h, uint32_t c)
{
    return (h ^ c) * 16777619u;
}

/* FNV leaves the low bits poorly mixed, so MurmurHash3's finalizer follows. */
static uint32_t bucket(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    return h % DG_DETECT_BUCKETS;
}

/* Visit the features of w[n], a word in small letters between two EDGEs. */
static void visit_word(const UChar32 *w, size_t n, dg_detect_visit *visit, void *ctx)
{
    for (size_t begin = 0; begin < n; begin++) {
        uint32_t h = HASH_SEED;
        for (size_t end = begin; end < n && end - begin < MAX_GRAM; end++) {
            h = mix(h, (uint32_t)w[end]);
            if (end > begin || w[begin] != EDGE)
                visit(ctx, bucket(h));
        }
    }
    uint32_t whole = mix(HASH_SEED, 'w');
    for (size_t i = 0; i < n; i++)
        whole = mix(whole, (uint32_t)w[i]);
    visit(ctx, bucket(whole));
}

static bool is_letter(UChar32 c)
{
    return dg_scan_is_letter(c) || (c >= 0x80 && u_charType(c) == U_NON_SPACING_MARK);
}

static UChar32 lower(UChar32 c)
{
    if (c >= 0x80)
        return u_tolower(c);
    return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
}

/* "don't" and "l’eau" are one word each. */
static bool is_apostrophe(UChar32 c)
{
    return c == '\'' || c == 0x2019;
}

size_t dg_detect_features(const char *s, size_t n, dg_detect_visit *visit, void *ctx)
{
    UChar32 word[MAX_LETTERS + 2] = {EDGE};
    size_t words = 0, len = 1;
    for (size_t at = 0; at < n && words < DG_DETECT_WORDS;) {
        UChar32 c = dg_scan_next(s, n, &at);
        const bool letter = is_letter(c);
        if (letter || (is_apostrophe(c) && len > 1)) {
            if (len <= MAX_LETTERS)
                word[len++] = letter ? lower(c) : '\'';
            if (at < n)
                continue;
        }
        if (len > 1) {
            word[len] = EDGE;
            visit_word(word, len + 1, visit, ctx);
            words++;
            len = 1;
        }
    }
    return words;
}
