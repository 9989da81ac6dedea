#include "text/sentences/line_breaks.h"

#include "text/icu.h"
#include "text/scan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unicode/ubrk.h>
#include <unicode/uscript.h>
#include <unicode/utext.h>

/* Signs of scripts without spaces, Tibetan among them, which has dots between syllables. */
static bool is_unspaced(int32_t c)
{
    return dg_scan_is_unspaced(c) || dg_scan_is_full_width(c) || (c >= 0x0F00 && c < 0x1000);
}

/* Unicode's rules divide Korean between any two syllables. It has spaces, and its endings follow
 * Chinese letters and brackets without one. */
static bool is_korean(int32_t c)
{
    UErrorCode status = U_ZERO_ERROR;
    return c >= 0x1100 && uscript_getScript(c, &status) == USCRIPT_HANGUL;
}

/* True if a line may end between these characters, where Unicode's rules allow it, without a space:
 * not after a hyphen within a word, for instance. */
static bool divides(int32_t before, int32_t after)
{
    return (is_unspaced(before) || is_unspaced(after)) && !is_korean(before) && !is_korean(after);
}

static bool breaks_at(const char *s, size_t n, struct dg_line_break b)
{
    size_t before = b.end;
    return b.end > 0 && b.next < n &&
           (b.next > b.end || divides(dg_scan_prev(s, 0, &before), dg_scan_peek(s, b.next, n)));
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
