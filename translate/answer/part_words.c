#include "translate/answer/answer.h"

#include "base/buffer.h"
#include "text/detect/detect.h"
#include "text/protected/foreign.h"
#include "text/numbers/number_sign.h"
#include "translate/answer/copied.h"

#include <string.h>

/* The words of a sentence: s[n], which is in `copy` if the sentence has protected spans. */
struct words {
    const char *s;
    size_t n;
    struct dg_buffer copy;
};

/* Append a protected span as far as it is made of words, which may tell the language; a blank
 * separates the words around any other. */
static void add_span(const struct dg_job *j, const struct dg_mark *m, struct dg_buffer *out)
{
    if (dg_foreign_end(j->t->alphabet, j->text, m->begin, m->end) == m->end)
        dg_buffer_add(out, j->text + m->begin, m->end - m->begin);
    else
        dg_buffer_add(out, " ", 1);
}

/* Out of memory counts as no words: they only set flags. */
static void words_open(const struct dg_job *j, const struct dg_part *p, struct words *w)
{
    size_t at = 0;
    w->s = p->shown.text ? p->shown.text : j->text + p->begin;
    w->n = p->shown.text ? p->shown.len : p->end - p->begin;
    dg_buffer_init(&w->copy);
    for (size_t i = 0; i < p->shown.n_marks; i++) {
        const struct dg_mark *m = &p->shown.marks[i];
        if (m->kind != DG_MARK_PROTECTED)
            continue;
        dg_buffer_add(&w->copy, w->s + at, m->at - at);
        add_span(j, m, &w->copy);
        at = m->at + m->len;
    }
    if (w->copy.len == 0 && !w->copy.failed)
        return;
    dg_buffer_add(&w->copy, w->s + at, w->n - at);
    w->s = w->copy.failed ? "" : w->copy.data;
    w->n = w->copy.failed ? 0 : w->copy.len;
}

static void words_close(struct words *w)
{
    dg_buffer_deinit(&w->copy);
}

bool dg_part_looks_foreign(const struct dg_job *j, const struct dg_part *p)
{
    struct words w;
    words_open(j, p, &w);
    const bool foreign = dg_detect_contradicts(j->from, w.s, w.n);
    words_close(&w);
    return foreign;
}

/* Append the answer with blanks in place of its glossary terms. */
static void add_own(const struct dg_draft *d, struct dg_buffer *out)
{
    dg_buffer_add(out, d->text.data, d->text.len);
    for (size_t i = 0; i < d->terms.n && !out->failed; i++)
        memset(out->data + d->terms.at[i].begin, ' ', d->terms.at[i].end - d->terms.at[i].begin);
}

bool dg_part_has_copied(
    const struct dg_job *j, const struct dg_part *p, const struct dg_draft *answer)
{
    struct words w;
    struct dg_buffer own;
    words_open(j, p, &w);
    dg_buffer_init(&own);
    add_own(answer, &own);
    const bool copied =
        !own.failed && dg_copied_word(answer->from, answer->to, w.s, w.n, own.data, own.len);
    dg_buffer_deinit(&own);
    words_close(&w);
    return copied;
}

bool dg_part_has_lost(const struct dg_job *j, const struct dg_part *p, const char *s, size_t n)
{
    struct dg_glossary_match terms[DG_MAX_TERMS];
    struct dg_buffer own;
    size_t found = 0;
    if (p->wanted.n && p->shown.text)
        found =
            dg_glossary_find(j->options.glossary, p->shown.text, p->shown.len, terms, DG_MAX_TERMS);
    dg_buffer_init(&own);
    dg_buffer_add(&own, j->text + p->begin, p->end - p->begin);
    for (size_t i = 0; i < found && !own.failed; i++) {
        const size_t begin = dg_shown_source(&p->shown, p->begin, terms[i].begin, true) - p->begin,
                     end = dg_shown_source(&p->shown, p->begin, terms[i].end, false) - p->begin;
        if (begin < end && end <= own.len)
            memset(own.data + begin, ' ', end - begin);
    }
    const bool lost =
        !own.failed && (dg_foreign_lost(j->t->alphabet, j->from, own.data, own.len, s, n) ||
                           dg_number_sign_lost(j->to, own.data, own.len, s, n));
    dg_buffer_deinit(&own);
    return lost;
}
