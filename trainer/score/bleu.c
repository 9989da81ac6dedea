#include "trainer/score/bleu.h"

#include "base/alloc.h"
#include "trainer/score/ngram.h"

#include <math.h>
#include <string.h>

const char *dg_bleu_signature(void)
{
    return "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:dragoman-" DG_VERSION;
}

static struct dg_ngram_units cut(const char *s, size_t n)
{
    struct dg_ngram_units t = {.gap = 1};
    struct dg_buffer text;
    size_t len;
    dg_buffer_init(&text);
    dg_bleu_tokenize(s, n, &text);
    t.text = dg_buffer_take(&text, &len);
    dg_alloc_check(t.text, "a line to score");
    t.begin = dg_alloc(len + 2, sizeof *t.begin, "a line to score");
    for (size_t i = 0; i < len; i++)
        if (t.text[i] == ' ')
            t.begin[++t.n] = i + 1;
    if (len)
        t.begin[++t.n] = len + 1;
    return t;
}

void dg_bleu_add(
    struct dg_bleu *b, const char *hyp, size_t hyp_len, const char *ref, size_t ref_len)
{
    struct dg_ngram_units h = cut(hyp, hyp_len), r = cut(ref, ref_len);
    struct dg_ngram_counts counts[DG_BLEU_ORDER];
    dg_ngram_count(&h, &r, DG_BLEU_ORDER, counts);
    for (size_t i = 0; i < DG_BLEU_ORDER; i++) {
        b->total[i] += counts[i].hyp;
        b->correct[i] += counts[i].match;
    }
    b->hyp_len += h.n;
    b->ref_len += r.n;
    dg_ngram_units_free(&h);
    dg_ngram_units_free(&r);
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
