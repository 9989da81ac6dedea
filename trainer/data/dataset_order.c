/* DESIGN. Only the window is held in memory. A place in the epoch is mapped to a pair by a keyed
 * bijection (a Feistel network, applied until the result is in range), so shuffling needs no table
 * and any place can be reached directly: a checkpoint holds three numbers and the stage. */
#include "trainer/data/dataset_internal.h"

#include "base/alloc.h"
#include "trainer/data/random.h"
#include "trainer/recipe/recipe.h"

#include <stdlib.h>
#include <string.h>

#define MAX_EMPTY_EPOCHS 100
#define LENGTH_LIMIT 65535 /* in sort keys only */

static uint64_t keyed(uint64_t seed, uint64_t a, uint64_t b)
{
    return dg_random_mix(dg_random_mix(dg_random_next(&seed) ^ a) + b);
}

/* A bijection of [0, n) chosen by key. */
static uint64_t permute(uint64_t key, uint64_t n, uint64_t x)
{
    unsigned half = 1;
    while (half < 32 && (UINT64_C(1) << (2 * half)) < n)
        half++;
    uint64_t mask = (UINT64_C(1) << half) - 1;
    do { /* the domain is at most four times the range: few repetitions */
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t round = 0; round < 6; round++) {
            uint64_t next = left ^ (keyed(key, round, right) & mask);
            left = right;
            right = next;
        }
        x = left << half | right;
    } while (x >= n);
    return x;
}

/* Places of an epoch in the current stage: some for each pair, as many as the largest weight. */
static uint64_t places(const struct dg_dataset *d)
{
    return dg_dataset_count(d) * d->stages[d->position.stage].copies;
}

/* Finds the pair at a place of the epoch; false if its weight leaves this copy out. */
static bool at_place(const struct dg_dataset *d, uint64_t epoch, uint64_t place, uint64_t *sentence)
{
    uint64_t count = dg_dataset_count(d);
    if (!d->o.shuffle) {
        *sentence = place;
        return true;
    }
    uint64_t x = permute(keyed(d->o.seed, 1, epoch), places(d), place);
    *sentence = x % count;
    uint64_t copy = x / count;
    double rest = dg_dataset_weight_now(d, dg_dataset_entry(d, *sentence)) - (double)copy;
    /* True if rest >= 1, false if rest <= 0; otherwise drawn, the same for each pair and epoch. */
    return dg_random_share(keyed(d->o.seed ^ 2, epoch, *sentence)) < rest;
}

static int by_key(const void *a, const void *b)
{
    const struct dg_dataset_item *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->sentence < y->sentence ? -1 : x->sentence > y->sentence;
}

/* Take the window's pairs from the epoch, shortest target first, ties by source, then at random. */
static void take_items(struct dg_dataset *d)
{
    const uint64_t end = places(d);
    uint64_t place = d->position.cursor;
    d->n_items = 0;
    for (; place < end && d->n_items < d->o.window; place++) {
        struct dg_dataset_item *it = &d->items[d->n_items];
        if (!at_place(d, d->position.epoch, place, &it->sentence))
            continue;
        const struct dg_shard_entry *e = dg_dataset_entry(d, it->sentence);
        uint32_t source = e->source_len, target = e->target_len;
        uint64_t random = d->o.shuffle ? keyed(d->o.seed ^ 3, d->position.epoch, place) >> 32
                                       : place & UINT32_MAX;
        it->key = (uint64_t)(target < LENGTH_LIMIT ? target : LENGTH_LIMIT) << 48 |
                  (uint64_t)(source < LENGTH_LIMIT ? source : LENGTH_LIMIT) << 32 | random;
        d->n_items++;
    }
    d->window_end = place;
    qsort(d->items, d->n_items, sizeof *d->items, by_key);
    for (size_t i = 0; i < d->n_items; i++)
        d->sentences[i] = d->items[i].sentence;
}

static void add_batch(struct dg_dataset *d, size_t begin, size_t end)
{
    d->batches =
        dg_alloc_grow(d->batches, d->n_batches + 1, &d->cap_batches, sizeof *d->batches, "batches");
    d->batches[d->n_batches++] = (struct dg_dataset_range){begin, end};
}

static void cut_batches(struct dg_dataset *d)
{
    uint64_t sum_s = 0, sum_t = 0, longest = 0;
    size_t begin = 0;
    d->n_batches = 0;
    for (size_t i = 0; i < d->n_items; i++) {
        const struct dg_shard_entry *e = dg_dataset_entry(d, d->sentences[i]);
        uint32_t s = e->source_len, t = e->target_len;
        uint64_t side = s > t ? s : t, wide = side > longest ? side : longest;
        bool full = d->o.mode == DG_BATCH_PADDED
                        ? wide * (i - begin + 1) > d->o.batch_tokens
                        : sum_s + s > d->o.batch_tokens || sum_t + t > d->o.batch_tokens;
        if (full && i > begin) {
            add_batch(d, begin, i);
            begin = i;
            sum_s = sum_t = 0;
            wide = side;
        }
        longest = wide;
        sum_s += s;
        sum_t += t;
    }
    if (d->n_items > begin)
        add_batch(d, begin, d->n_items);
}

static void build(struct dg_dataset *d)
{
    take_items(d);
    cut_batches(d);
    uint64_t key = keyed(d->o.seed ^ 4, d->position.epoch, d->position.cursor);
    for (size_t i = d->n_batches; d->o.shuffle && i > 1; i--) {
        size_t j = (size_t)(keyed(key, i, 0) % i);
        struct dg_dataset_range swap = d->batches[j];
        d->batches[j] = d->batches[i - 1];
        d->batches[i - 1] = swap;
    }
    d->built = true;
}

static void give(const struct dg_dataset *d, const struct dg_dataset_range *r, struct dg_batch *out)
{
    memset(out, 0, sizeof *out);
    out->sentences = d->sentences + r->begin;
    out->count = r->end - r->begin;
    out->epoch = d->position.epoch;
    for (size_t i = 0; i < out->count; i++) {
        uint32_t s, t;
        dg_dataset_lengths(d, out->sentences[i], &s, &t);
        out->source_tokens += s;
        out->target_tokens += t;
        out->max_source = s > out->max_source ? s : out->max_source;
        out->max_target = t > out->max_target ? t : out->max_target;
    }
}

int dg_dataset_next(struct dg_dataset *d, struct dg_batch *out, struct dg_error *err)
{
    uint64_t first_epoch = d->position.epoch;
    for (;;) {
        if (!d->built)
            build(d);
        if (d->position.batch < d->n_batches)
            break;
        d->built = false;
        d->position.batch = 0;
        d->position.cursor = d->window_end;
        if (d->window_end == places(d)) {
            d->position.cursor = 0;
            d->position.epoch++;
        }
        if (d->position.epoch - first_epoch > MAX_EMPTY_EPOCHS)
            return dg_error_set(
                err, DG_EINVAL, "the weights leave no pair in %d epochs", MAX_EMPTY_EPOCHS);
    }
    const struct dg_dataset_range *r = &d->batches[d->position.batch];
    dg_dataset_draw(d, d->sentences + r->begin, r->end - r->begin, d->position.epoch);
    give(d, r, out);
    d->position.batch++;
    return 0;
}

void dg_dataset_tell(const struct dg_dataset *d, struct dg_dataset_position *out)
{
    *out = d->position;
}

double dg_dataset_epochs(const struct dg_dataset *d)
{
    const struct dg_dataset_position *p = &d->position;
    double place = (double)p->cursor;
    if (d->built && d->n_batches)
        place += (double)(d->window_end - p->cursor) * (double)p->batch / (double)d->n_batches;
    return (double)p->epoch + place / (double)places(d);
}

int dg_dataset_seek(struct dg_dataset *d, const struct dg_dataset_position *p, struct dg_error *err)
{
    if (p->stage > d->o.n_stages)
        return dg_error_set(err, DG_EINVAL, "position in stage %llu of %zu: it is of another run",
            (unsigned long long)p->stage + 1, d->o.n_stages);
    const uint64_t end = dg_dataset_count(d) * d->stages[p->stage].copies;
    if (p->cursor >= end)
        return dg_error_set(err, DG_EINVAL,
            "position %llu is past the data's end (%llu): it belongs to other data",
            (unsigned long long)p->cursor, (unsigned long long)end);
    d->position = *p;
    d->built = false;
    return 0;
}
