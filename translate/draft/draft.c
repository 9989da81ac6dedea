#include "translate/draft/draft.h"

#include <string.h>

void dg_draft_splice(struct dg_draft *d, size_t begin, size_t end, const char *s, size_t n)
{
    struct dg_buffer *text = &d->text;
    const size_t tail = text->len - end;
    if (n > end - begin) /* make room for the longer text */
        dg_buffer_add(text, s, n - (end - begin));
    if (text->failed)
        return;
    memmove(text->data + begin + n, text->data + end, tail);
    memcpy(text->data + begin, s, n);
    text->len = begin + n + tail;
    text->data[text->len] = '\0';
    for (size_t i = 0; i < d->n_ends; i++)
        if (d->ends[i] > begin)
            d->ends[i] = d->ends[i] > end ? d->ends[i] - end + begin + n : begin + n;
}

void dg_draft_find_terms(struct dg_draft *d)
{
    dg_term_places_find(d->wanted, d->text.data, d->text.len, &d->terms);
}

bool dg_draft_has_term(const struct dg_draft *d, size_t begin, size_t end)
{
    /* the same bytes when the terms were looked for */
    const size_t from = begin + d->terms.len - d->text.len, to = end + d->terms.len - d->text.len;
    for (size_t i = 0; i < d->terms.n; i++)
        if (d->terms.at[i].begin < to && d->terms.at[i].end > from)
            return true;
    return false;
}
