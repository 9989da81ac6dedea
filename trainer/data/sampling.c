#include "trainer/data/sampling.h"

#include "base/alloc.h"
#include "trainer/data/hash.h"
#include "trainer/data/noise.h"
#include "trainer/data/prepared.h"
#include "trainer/data/subword.h"

#include <stdlib.h>
#include <string.h>

enum { NOISE = 1 }; /* hash seed: noise uses other random numbers than dropout */

struct dg_sampling {
    /* NULL: no dropout */
    struct dg_subword *source, *target;
    struct dg_sampling_options o;
    /* NULL: none */
    struct dg_noise *noise;
    /* [o.max] a source with noise */
    int32_t *typed;
    uint64_t epoch;
    /* [n_ids] */
    int32_t *ids;
    size_t n_ids, cap_ids;
    /* [n_items], sorted by sentence after dg_sampling_end */
    struct dg_sampled *items;
    size_t n_items, cap_items;
};

static int open_side(
    const char *dir, const char *side, struct dg_subword **out, struct dg_error *err)
{
    struct dg_tokenizer *t = NULL;
    int rc = dg_prepared_tokenizer(dir, side, &t, err);
    if (rc == 0)
        rc = dg_subword_open(t, out, err);
    dg_tokenizer_close(t);
    return rc;
}

int dg_sampling_open(const char *prepared_dir, const struct dg_sampling_options *o,
    struct dg_sampling **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_sampling *d = dg_alloc(1, sizeof *d, "sentences of a batch");
    d->o = *o;
    int rc = 0;
    if (dg_noise_wanted(o->noise)) {
        d->typed = dg_alloc(o->max, sizeof *d->typed, "a sentence");
        rc = dg_noise_open(prepared_dir, o->noise, &d->noise, err);
    }
    if (rc == 0 && o->dropout)
        rc = open_side(prepared_dir, "source", &d->source, err);
    if (rc == 0 && o->dropout)
        rc = open_side(prepared_dir, "target", &d->target, err);
    if (rc) {
        dg_sampling_close(d);
        return rc;
    }
    *out = d;
    return 0;
}

void dg_sampling_close(struct dg_sampling *d)
{
    if (!d)
        return;
    dg_subword_close(d->source);
    dg_subword_close(d->target);
    dg_noise_close(d->noise);
    free(d->typed);
    free(d->ids);
    free(d->items);
    free(d);
}

void dg_sampling_begin(struct dg_sampling *d, uint64_t epoch)
{
    d->epoch = epoch;
    d->n_ids = d->n_items = 0;
}

static void room(struct dg_sampling *d, size_t ids)
{
    d->ids = dg_alloc_grow(d->ids, d->n_ids + ids, &d->cap_ids, sizeof *d->ids, "ids");
    d->items =
        dg_alloc_grow(d->items, d->n_items + 1, &d->cap_items, sizeof *d->items, "sentences");
}

static size_t side_room(const struct dg_subword *s, const int32_t *ids, uint32_t n)
{
    return s ? dg_subword_room(s, ids, n) : n;
}

/* Draws one side at the end of d->ids; it stays unchanged without dropout, or if the result is too
 * long. */
static uint32_t draw_side(
    struct dg_sampling *d, const struct dg_subword *s, const int32_t *ids, uint32_t n, uint64_t key)
{
    int32_t *out = d->ids + d->n_ids;
    size_t len = s ? dg_subword_draw(s, ids, n, d->o.p, key, out) : SIZE_MAX;
    if (len > d->o.max) {
        memcpy(out, ids, n * sizeof *out);
        len = n;
    }
    d->n_ids += len;
    return (uint32_t)len;
}

void dg_sampling_add(struct dg_sampling *d, uint64_t sentence, const char *language,
    const int32_t *source, uint32_t source_len, const int32_t *target, uint32_t target_len)
{
    uint64_t name[3] = {d->o.seed, d->epoch, sentence};
    struct dg_hash128 key = dg_hash128(name, sizeof name, 0);
    if (d->noise) {
        source_len = (uint32_t)dg_noise_add(d->noise, language, source, source_len,
            dg_hash128(name, sizeof name, NOISE).low, d->typed, d->o.max);
        source = d->typed;
    }
    room(d, side_room(d->source, source, source_len) + side_room(d->target, target, target_len));
    struct dg_sampled *it = &d->items[d->n_items++];
    it->sentence = sentence;
    it->source = d->n_ids;
    it->source_len = draw_side(d, d->source, source, source_len, key.low);
    it->target = d->n_ids;
    it->target_len = draw_side(d, d->target, target, target_len, key.high);
}

static int by_sentence(const void *a, const void *b)
{
    const struct dg_sampled *x = a, *y = b;
    return x->sentence < y->sentence ? -1 : x->sentence > y->sentence;
}

void dg_sampling_end(struct dg_sampling *d)
{
    qsort(d->items, d->n_items, sizeof *d->items, by_sentence);
}

const struct dg_sampled *dg_sampling_find(const struct dg_sampling *d, uint64_t sentence)
{
    struct dg_sampled wanted = {.sentence = sentence};
    return d->n_items ? bsearch(&wanted, d->items, d->n_items, sizeof wanted, by_sentence) : NULL;
}

const int32_t *dg_sampling_ids(const struct dg_sampling *d, size_t begin)
{
    return d->ids + begin;
}
