/* An answer's tokens as text. Unknown ones are replaced by text of the source, or of the prefix. */
#include "base/buffer.h"
#include "translate/answer/answer.h"

#include <stdlib.h>

static bool is_blank(char c)
{
    return c == ' ';
}

/* Append token `src` of `text` in place of an unknown token, spaced as in `text`. */
static void copy_token(
    const char *text, const struct dg_token *src, struct dg_buffer *out, bool blank_follows)
{
    size_t begin = src->begin, end = src->end;
    while (begin < end && is_blank(text[begin]))
        begin++;
    bool before = begin > 0 && is_blank(text[begin - 1]);
    bool after = is_blank(text[end]);
    if (before && out->len > 0 && !is_blank(out->data[out->len - 1]))
        dg_buffer_add(out, " ", 1);
    dg_buffer_add(out, text + begin, end - begin);
    if (after && !blank_follows)
        dg_buffer_add(out, " ", 1);
}

const struct dg_token *dg_part_source_of(const struct dg_part *p, uint32_t at)
{
    /* ids = tags? tokens </s>?: the first p->n_tags ids are tags. */
    uint32_t first = p->n_tags;
    const int32_t *sources = p->hyps->sources;
    if (!sources || sources[at] < (int32_t)first)
        return NULL;
    size_t i = (size_t)sources[at] - first;
    return i < p->n_tokens ? &p->tokens[i] : NULL;
}

/* The source token that replaces unknown token `at`: the one it was aligned with; for answers below
 * the best, which have no alignment, the next source token that the vocabulary does not know. */
static const struct dg_token *source_of_unknown(const struct dg_part *p,
    const struct dg_part_hyp *h, uint32_t at, int32_t source_unk, size_t *next)
{
    const struct dg_token *t = h == p->hyps ? dg_part_source_of(p, at) : NULL;
    if (t)
        return t;
    while (*next < p->n_tokens && p->tokens[*next].id != source_unk)
        (*next)++;
    return *next < p->n_tokens ? &p->tokens[(*next)++] : NULL;
}

void dg_part_note_end(struct dg_part *p, const struct dg_part_hyp *h, uint32_t i, size_t end)
{
    if (p->ends && h == p->hyps) {
        p->ends[i] = end;
        p->n_ends = i + 1;
    }
}

/* A decoded answer: text[len], and the bytes that each of its n tokens takes there. */
struct decoded {
    char *text;
    size_t len;
    /* [n] */
    struct dg_token *spans;
    uint32_t n;
};

/* Append the text with unknown tokens replaced. True if one was not the prefix's own. */
static bool fill_unknown(const struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    const struct decoded *d, struct dg_buffer *out)
{
    const char *text = d->text;
    const size_t len = d->len;
    const struct dg_token *spans = d->spans;
    int32_t unk = dg_tokenizer_unk(j->t->target), source_unk = dg_tokenizer_unk(j->t->source);
    size_t at = 0, next = 0;
    bool any = false;
    uint64_t said = 0;
    const struct dg_prefix *prefix = dg_part_prefix(j, p);
    for (uint32_t i = 0; i < d->n; i++) {
        const char *name = dg_stand_in_name_of(&j->t->stand_ins, &p->shown, h->ids[i], &said);
        if (name) {
            const size_t here = spans[i].end > at ? spans[i].end : at;
            dg_buffer_add(out, text + at, here - at);
            dg_buffer_adds(out, name);
            at = here;
        }
        if (h->ids[i] != unk) {
            dg_part_note_end(p, h, i, out->len + (spans[i].end > at ? spans[i].end - at : 0));
            continue;
        }
        /* The blanks around an earlier unknown token may have been skipped already. */
        size_t begin = spans[i].begin > at ? spans[i].begin : at,
               end = spans[i].end > at ? spans[i].end : at;
        bool given = i < prefix->n && prefix->text; /* it is the prefix's own, not the source's */
        const struct dg_token *source =
            given ? &prefix->tokens[i] : source_of_unknown(p, h, i, source_unk, &next);
        any = any || !given;
        dg_buffer_add(out, text + at, begin - at);
        at = end;
        if (source) {
            while (at < len && is_blank(text[at]) && end > begin && is_blank(text[end - 1]))
                at++;
            copy_token(
                given ? prefix->text : p->text, source, out, at >= len || is_blank(text[at]));
        } else if (at < len && !is_blank(text[at]) && out->len > 0 &&
                   !is_blank(out->data[out->len - 1])) {
            dg_buffer_add(out, " ", 1);
        }
        dg_part_note_end(p, h, i, out->len);
    }
    dg_buffer_add(out, text + at, len - at);
    return any;
}

int dg_part_decode(const struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    struct dg_buffer *out, bool *unknown, struct dg_error *err)
{
    const int32_t eos = dg_model_config(j->t->model)->eos;
    struct decoded d = {.n = h->n && h->ids[h->n - 1] == eos ? h->n - 1 : h->n};
    d.spans = malloc((d.n ? d.n : 1) * sizeof *d.spans);
    if (!d.spans)
        return DG_JOB_NO_MEMORY(err);
    const int rc = dg_tokenizer_decode(j->t->target, h->ids, d.n, &d.text, &d.len, d.spans, err);
    *unknown = !rc && fill_unknown(j, p, h, &d, out);
    free(d.text);
    free(d.spans);
    return rc;
}
