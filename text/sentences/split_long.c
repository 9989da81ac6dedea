/* Cutting a sentence that is too long. */
#include "text/scan.h"
#include "text/sentences/split.h"

#include <stdint.h>

struct cut {
    /* distance from the middle; SIZE_MAX: none found */
    size_t at, distance;
};

static void offer(struct cut *best, size_t at, size_t middle)
{
    size_t distance = at > middle ? at - middle : middle - at;
    if (distance < best->distance)
        *best = (struct cut){at, distance};
}

static bool is_clause_mark(int32_t c)
{
    return c == ';' || c == ':' || c == ',' || c == 0x2013 || c == 0x2014 || c == 0x060C ||
           c == 0x061B || c == 0x0387;
}

/* Clause marks that need no space after them. */
static bool is_wide_clause_mark(int32_t c)
{
    return c == 0x3001 || c == 0xFF0C || c == 0xFF1A || c == 0xFF1B || c == 0xFF64;
}

int dg_split_long(
    const char *text, size_t n, size_t *left_end, size_t *right_begin, struct dg_error *err)
{
    size_t middle = n / 2;
    struct cut clause = {0, SIZE_MAX}, space = {0, SIZE_MAX}, any = {0, SIZE_MAX},
               raw = {0, SIZE_MAX};
    bool words = false; /* a character other than white space precedes i */
    bool after_mark = false, wide = false, joined = false, was_space = false;
    size_t last = dg_scan_trim_space(text, 0, n);
    for (size_t i = 0; i < n;) {
        size_t at = i;
        int32_t c = dg_scan_next(text, n, &i);
        bool is_space = dg_scan_is_space(c);
        if (at > 0)
            offer(&raw, at, middle);
        /* Not between a letter and its marks, nor inside a joined emoji. */
        if (at > 0 && !dg_scan_is_attached(c) && !joined)
            offer(&any, at, middle);
        if (words && at < last && is_space && !was_space)
            offer(&space, at, middle);
        bool clause_end = (is_space && after_mark) || wide;
        if (words && at < last && clause_end && at >= n / 4 && at <= n - n / 4)
            offer(&clause, at, middle);
        words = words || !is_space;
        after_mark = is_clause_mark(c);
        wide = is_wide_clause_mark(c);
        joined = c == 0x200D;
        was_space = is_space;
    }
    struct cut best = clause.distance != SIZE_MAX  ? clause
                      : space.distance != SIZE_MAX ? space
                                                   : any;
    if (best.distance == SIZE_MAX)
        best = raw;
    if (best.distance == SIZE_MAX)
        return dg_error_set(err, DG_ELIMIT, "a single character of %zu bytes cannot be cut", n);
    *left_end = best.at;
    *right_begin = dg_scan_skip_space(text, best.at, n);
    if (*right_begin == n) /* white space only: cut it all the same */
        *right_begin = best.at;
    return DG_OK;
}
