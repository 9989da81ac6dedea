#include "trainer/score/chrf.h"

#include "base/alloc.h"
#include "trainer/score/ngram.h"

#include <stdlib.h>
#include <string.h>

#define BETA 2.0

const char *dg_chrf_signature(void)
{
    return "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:dragoman-" DG_VERSION;
}

/* A text's characters without white space. */
struct chars {
    char *text;
    /* [n + 1] */
    size_t *begin;
    size_t n;
};

static size_t char_bytes(const char *s, size_t n)
{
    size_t k = 1;
    while (k < n && ((unsigned char)s[k] & 0xC0) == 0x80 && ((unsigned char)s[0] & 0x80))
        k++;
    return k;
}

static void chars_init(struct chars *c, const char *s, size_t n)
{
    c->n = 0;
    c->text = dg_alloc(n + 1, 1, "a line to score");
    c->begin = dg_alloc(n + 1, sizeof *c->begin, "a line to score");
    size_t len = 0;
    for (size_t i = 0; i < n;) {
        size_t space = dg_ngram_space(s + i, n - i);
        if (space) {
            i += space;
            continue;
        }
        size_t k = char_bytes(s + i, n - i);
        memcpy(c->text + len, s + i, k);
        c->begin[c->n++] = len;
        len += k;
        i += k;
    }
    c->begin[c->n] = len;
}

static size_t list_ngrams(const struct chars *c, size_t order, struct dg_ngram *list)
{
    size_t n = c->n >= order ? c->n - order + 1 : 0;
    for (size_t i = 0; i < n; i++)
        list[i] = (struct dg_ngram){c->text + c->begin[i], c->begin[i + order] - c->begin[i]};
    return n;
}

void dg_chrf_add(
    struct dg_chrf *c, const char *hyp, size_t hyp_len, const char *ref, size_t ref_len)
{
    struct chars h = {0}, r = {0};
    chars_init(&h, hyp, hyp_len);
    chars_init(&r, ref, ref_len);
    struct dg_ngram *list = dg_alloc(h.n + r.n + 1, sizeof *list, "a line to score");
    for (size_t order = 1; order <= DG_CHRF_ORDER; order++) {
        size_t n_h = list_ngrams(&h, order, list), n_r = list_ngrams(&r, order, list + h.n);
        /* As in sacreBLEU: not counted if the reference has no n-gram of this order. */
        c->hyp[order - 1] += n_r ? n_h : 0;
        c->ref[order - 1] += n_r;
        c->match[order - 1] += dg_ngram_match(list, n_h, list + h.n, n_r);
    }
    free(list);
    free(h.text);
    free(h.begin);
    free(r.text);
    free(r.begin);
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
