#include "text/line_breaks.h"

#include "text/icu.h"
#include "text/scan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unicode/ubrk.h>
#include <unicode/utext.h>

/* True for a letter or a mark of a script without spaces. Devanagari's letters have no case either,
 * but there are no breaks within its words. */
static bool is_wide(int32_t c)
{
    return dg_scan_is_uncased(c) || dg_scan_is_attached(c) || (c >= 0x3000 && c <= 0x30FF) ||
           (c >= 0xFF00 && c <= 0xFFEF);
}

/* False for a break after a hyphen and the like. */
static bool breaks_at(const char *s, size_t n, struct dg_line_break b)
{
    size_t before = b.end;
    return b.end > 0 && b.next < n &&
           (b.next > b.end || is_wide(dg_scan_prev(s, 0, &before)) ||
               is_wide(dg_scan_peek(s, b.next, n)));
}

int dg_line_breaks(
    const char *s, size_t n, struct dg_line_break **out, size_t *count, struct dg_error *err)
{
    UErrorCode status = U_ZERO_ERROR;
    UText text = UTEXT_INITIALIZER;
    *count = 0;
    *out = NULL;
    int rc = dg_icu_open(err);
    if (rc != DG_OK)
        return rc;
    struct dg_line_break *list = malloc((n + 1) * sizeof *list);
    if (!list)
        return dg_error_set(err, DG_ENOMEM, "no memory for the lines of %zu bytes", n);
    UBreakIterator *breaks = ubrk_open(UBRK_LINE, "", NULL, 0, &status);
    utext_openUTF8(&text, s, (int64_t)n, &status);
    ubrk_setUText(breaks, &text, &status);
    for (int32_t at = U_SUCCESS(status) ? ubrk_next(breaks) : UBRK_DONE; at != UBRK_DONE;
         at = ubrk_next(breaks)) {
        const size_t next = (size_t)at;
        const struct dg_line_break b = {dg_scan_trim_space(s, 0, next), next};
        if (breaks_at(s, n, b))
            list[(*count)++] = b;
    }
    utext_close(&text);
    ubrk_close(breaks);
    if (U_FAILURE(status)) {
        free(list);
        return dg_icu_fail(err, DG_EINTERNAL, status, "ICU's line rules");
    }
    *out = list;
    return DG_OK;
}
