/* Ways to treat markup, for targets that read documents: one of the lists below for each number,
 * 0 for the default. */
#ifndef DG_TESTS_FUZZ_MARKUPS_H
#define DG_TESTS_FUZZ_MARKUPS_H

#include "text/format/markup.h"

#include <stddef.h>

enum { FUZZ_MARKUPS = 7 };

static inline const struct dg_markup *fuzz_markup(unsigned which)
{
    static const char *const splitting[] = {"p", "tr", NULL}, *const around[] = {"b", "i", NULL},
                             *const ignored[] = {"x", "code", "b", NULL};
    static const struct dg_markup markups[] = {
        {.ignored = ignored},
        {.splitting = splitting, .non_splitting = around, .ignored = ignored, .no_outline = true},
        {.html = true},
        {.codes = true, .lines = true},
        {.lines = true},
        {.program = true, .key_signs = "&_"},
    };
    which %= FUZZ_MARKUPS;
    return which ? &markups[which - 1] : NULL;
}

#endif
