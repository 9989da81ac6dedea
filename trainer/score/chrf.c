#include "trainer/score/chrf.h"

#include "base/alloc.h"
#include "trainer/score/ngram.h"

#include <string.h>

#define BETA 2.0

const char *dg_chrf_signature(void)
{
    return "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:dragoman-" DG_VERSION;
}

static size_t char_bytes(const char *s, size_t n)
{
    size_t k = 1;
    while (k < n && ((unsigned char)s[k] & 0xC0) == 0x80 && ((unsigned char)s[0] & 0x80))
        k++;
    return k;
}

/* Cuts a text into its characters, without white space. */
static struct dg_ngram_units cut(const char *s, size_t n)
{
    struct dg_ngram_units c = {.text = dg_alloc(n + 1, 1, "a line to score"),
        .begin = dg_alloc(n + 1, sizeof *c.begin, "a line to score")};
    size_t len = 0;
    for (size_t i = 0; i < n;) {
        size_t space = dg_ngram_space(s + i, n - i);
        if (space) {
            i += space;
            continue;
        }
        size_t k = char_bytes(s + i, n - i);
        memcpy(c.text + len, s + i, k);
        c.begin[c.n++] = len;
        len += k;
        i += k;
    }
    c.begin[c.n] = len;
    return c;
}

void dg_chrf_add(
    struct dg_chrf *c, const char *hyp, size_t hyp_len, const char *ref, size_t ref_len)
{
    struct dg_ngram_units h = cut(hyp, hyp_len), r = cut(ref, ref_len);
    struct dg_ngram_counts counts[DG_CHRF_ORDER];
    dg_ngram_count(&h, &r, DG_CHRF_ORDER, counts);
    for (size_t i = 0; i < DG_CHRF_ORDER; i++) {
        /* As in sacreBLEU: not counted if the reference has no n-gram of this order. */
        c->hyp[i] += counts[i].ref ? counts[i].hyp : 0;
        c->ref[i] += counts[i].ref;
        c->match[i] += counts[i].match;
    }
    dg_ngram_units_free(&h);
    dg_ngram_units_free(&r);
}

double dg_chrf_score(const struct dg_chrf *c)
{
    double precision = 0, recall = 0, factor = BETA * BETA;
    int orders = 0;
    for (size_t i = 0; i < DG_CHRF_ORDER; i++) {
        if (c->hyp[i] == 0 || c->ref[i] == 0)
            continue;
        precision += (double)c->match[i] / (double)c->hyp[i];
        recall += (double)c->match[i] / (double)c->ref[i];
        orders++;
    }
    if (orders == 0 || precision + recall == 0)
        return 0;
    precision /= orders;
    recall /= orders;
    return 100 * (1 + factor) * precision * recall / (factor * precision + recall);
}

void dg_chrf_print(const struct dg_chrf *c, struct dg_buffer *out)
{
    dg_buffer_addf(out, "chrF2|%s = %.2f", dg_chrf_signature(), dg_chrf_score(c));
}
