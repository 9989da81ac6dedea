#include "translate/draft/draft.h"

#include "text/letter_case.h"

int dg_draft_write_capitals(struct dg_draft *d, struct dg_error *err)
{
    struct dg_buffer all;
    const char *const s = d->text.data;
    size_t at = 0;
    int rc = 0;
    if (d->text.len == 0)
        return 0;
    dg_buffer_init(&all);
    /* Token by token, to find where each one ends in capitals. */
    for (size_t i = 0; i < d->n_ends && !rc; i++) {
        size_t end = d->ends[i];
        if (end > at)
            rc = dg_letter_case_upper(d->to, s + at, end - at, &all, err);
        at = end > at ? end : at;
        d->ends[i] = all.len;
    }
    dg_buffer_reset(&all);
    /* Once more as a whole: a letter's capital may depend on its neighbours. */
    if (!rc)
        rc = dg_letter_case_upper(d->to, s, d->text.len, &all, err);
    if (rc) {
        dg_buffer_deinit(&all);
        return rc;
    }
    dg_buffer_deinit(&d->text);
    d->text = all;
    for (size_t i = 0; i < d->n_ends; i++)
        d->ends[i] = d->ends[i] < all.len ? d->ends[i] : all.len;
    return 0;
}
