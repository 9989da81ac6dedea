#include "trainer/score/bleu.h"

#include "base/alloc.h"
#include "trainer/score/ngram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *dg_bleu_signature(void)
{
    return "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:dragoman-" DG_VERSION;
}

/* A tokenised text, with one space between tokens. */
struct tokens {
    struct dg_buffer text;
    /* [n + 1]: begin[i + 1] - 1 is the end of token i */
    size_t *begin;
    size_t n;
};

static void tokens_deinit(struct tokens *t)
{
    dg_buffer_deinit(&t->text);
    free(t->begin);
}

static void tokens_init(struct tokens *t, const char *s, size_t n)
{
    memset(t, 0, sizeof *t);
    dg_buffer_init(&t->text);
    dg_bleu_tokenize(s, n, &t->text);
    t->begin = dg_alloc(t->text.len + 2, sizeof *t->begin, "a line to score");
    dg_alloc_check(!t->text.failed, "a line to score");
    t->begin[0] = 0;
    for (size_t i = 0; i < t->text.len; i++)
        if (t->text.data[i] == ' ')
            t->begin[++t->n] = i + 1;
    if (t->text.len)
        t->begin[++t->n] = t->text.len + 1;
}

/* Write the n-grams of one order to list; return how many. */
static size_t list_ngrams(const struct tokens *t, size_t order, struct dg_ngram *list)
{
    size_t n = t->n >= order ? t->n - order + 1 : 0;
    for (size_t i = 0; i < n; i++)
        list[i] =
            (struct dg_ngram){t->text.data + t->begin[i], t->begin[i + order] - 1 - t->begin[i]};
    return n;
}

void dg_bleu_add(
    struct dg_bleu *b, const char *hyp, size_t hyp_len, const char *ref, size_t ref_len)
{
    struct tokens h, r = {0};
    tokens_init(&h, hyp, hyp_len);
    tokens_init(&r, ref, ref_len);
    struct dg_ngram *list = dg_alloc(h.n + r.n + 1, sizeof *list, "a line to score");
    for (size_t order = 1; order <= DG_BLEU_ORDER; order++) {
        size_t n_h = list_ngrams(&h, order, list), n_r = list_ngrams(&r, order, list + h.n);
        b->total[order - 1] += n_h;
        b->correct[order - 1] += dg_ngram_match(list, n_h, list + h.n, n_r);
    }
    b->hyp_len += h.n;
    b->ref_len += r.n;
    free(list);
    tokens_deinit(&r);
    tokens_deinit(&h);
}

/* Precisions in percent. Orders without a match are smoothed as in NIST's mteval: they count half,
 * a quarter, ... of a match. */
static void precisions(const struct dg_bleu *b, double out[DG_BLEU_ORDER])
{
    double smooth = 1;
    memset(out, 0, DG_BLEU_ORDER * sizeof *out);
    if (b->correct[0] + b->correct[1] + b->correct[2] + b->correct[3] == 0)
        return;
    for (size_t n = 0; n < DG_BLEU_ORDER && b->total[n]; n++) {
        if (b->correct[n] == 0)
            smooth *= 2;
        out[n] = 100.0 * (b->correct[n] ? (double)b->correct[n] : 1 / smooth) / (double)b->total[n];
    }
}

double dg_bleu_brevity(const struct dg_bleu *b)
{
    if (b->hyp_len >= b->ref_len)
        return 1;
    return b->hyp_len ? exp(1 - (double)b->ref_len / (double)b->hyp_len) : 0;
}

double dg_bleu_score(const struct dg_bleu *b)
{
    double p[DG_BLEU_ORDER], sum = 0;
    precisions(b, p);
    for (size_t n = 0; n < DG_BLEU_ORDER; n++) {
        if (p[n] == 0)
            return 0;
        sum += log(p[n]);
    }
    return dg_bleu_brevity(b) * exp(sum / DG_BLEU_ORDER);
}

void dg_bleu_print(const struct dg_bleu *b, struct dg_buffer *out)
{
    double p[DG_BLEU_ORDER];
    precisions(b, p);
    dg_buffer_addf(out,
        "BLEU|%s = %.2f %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %llu ref_len = %llu)",
        dg_bleu_signature(), dg_bleu_score(b), p[0], p[1], p[2], p[3], dg_bleu_brevity(b),
        b->ref_len ? (double)b->hyp_len / (double)b->ref_len : 0, (unsigned long long)b->hyp_len,
        (unsigned long long)b->ref_len);
}
