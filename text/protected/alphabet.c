#include "text/protected/alphabet.h"

#include "text/scan.h"

#include <stdlib.h>

enum { PAGE = 256, PAGES = 0x110000 / PAGE }; /* code points per page; number of pages */

struct dg_alphabet {
    uint8_t *pages[DG_ALPHABET_USES]
                  /* [PAGE / 8] a bit for each code point; NULL: none of them */
                  [PAGES];
};

struct dg_alphabet *dg_alphabet_open(void)
{
    return calloc(1, sizeof(struct dg_alphabet));
}

void dg_alphabet_close(struct dg_alphabet *a)
{
    if (!a)
        return;
    for (int use = 0; use < DG_ALPHABET_USES; use++)
        for (size_t i = 0; i < PAGES; i++)
            free(a->pages[use][i]);
    free(a);
}

bool dg_alphabet_add(struct dg_alphabet *a, enum dg_alphabet_use use, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        const int32_t c = dg_scan_next(s, n, &i);
        if (c < 0)
            continue;
        uint8_t **page = &a->pages[use][c / PAGE];
        if (!*page && !(*page = calloc(PAGE / 8, 1)))
            return false;
        (*page)[c % PAGE / 8] |= (uint8_t)(1u << c % 8);
    }
    return true;
}

void dg_alphabet_remove(struct dg_alphabet *a, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        const int32_t c = dg_scan_next(s, n, &i);
        for (int use = 0; use < DG_ALPHABET_USES && c >= 0; use++)
            if (a->pages[use][c / PAGE])
                a->pages[use][c / PAGE][c % PAGE / 8] &= (uint8_t) ~(1u << c % 8);
    }
}

bool dg_alphabet_has(const struct dg_alphabet *a, enum dg_alphabet_use use, int32_t c)
{
    const uint8_t *page = c < 0 ? NULL : a->pages[use][c / PAGE];
    return page && page[c % PAGE / 8] >> c % 8 & 1;
}
