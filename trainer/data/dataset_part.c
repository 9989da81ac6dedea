/* Cuts batches up for threads, ranks and memory, and bounds how large they can become. */
#include "trainer/data/dataset_internal.h"

#include "trainer/recipe/recipe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t tokens_of(const struct dg_dataset *d, const struct dg_batch *b, size_t i)
{
    uint32_t s, t;
    dg_dataset_lengths(d, b->sentences[i], &s, &t);
    return (uint64_t)s + t;
}

void dg_batch_part(const struct dg_dataset *d, const struct dg_batch *b, size_t n, size_t i,
    size_t *begin, size_t *end)
{
    /* A sentence belongs to the part in which its middle token falls; prefix sums make that
     * monotone. */
    uint64_t total = b->source_tokens + b->target_tokens, before = 0;
    size_t j = 0;
    *begin = *end = b->count;
    for (; j < b->count; j++) {
        uint64_t tokens = tokens_of(d, b, j);
        size_t part = (size_t)((before + tokens / 2) * n / total);
        if (part >= i && *begin == b->count)
            *begin = j;
        if (part > i)
            break;
        before += tokens;
    }
    *end = j;
    if (*begin > *end)
        *begin = *end;
}

size_t dg_batch_cut(const struct dg_dataset *d, const struct dg_batch *b, size_t begin, size_t end,
    uint64_t max_tokens)
{
    uint64_t sum = 0;
    size_t i = begin;
    for (; i < end; i++) {
        uint64_t tokens = tokens_of(d, b, i);
        if (i > begin && sum + tokens > max_tokens)
            break;
        sum += tokens;
    }
    return i;
}

enum { LENGTHS = 4096 }; /* longer items share the last count */

/* Returns the largest number of items that fit a budget (the shortest first; counts[l] items have
 * length l), but at least 1. */
static uint64_t most_that_fit(const uint64_t counts[LENGTHS], uint64_t budget)
{
    uint64_t n = 0;
    for (uint64_t l = 1; l < LENGTHS; l++) {
        uint64_t fit = budget / l < counts[l] ? budget / l : counts[l];
        n += fit;
        budget -= fit * l;
        if (fit < counts[l])
            break;
    }
    return n ? n : 1;
}

void dg_dataset_worst(
    const struct dg_dataset *d, const struct dg_dataset_options *o, struct dg_dataset_worst *out)
{
    uint64_t counts[2][LENGTHS] = {{0}};
    uint32_t shortest = UINT32_MAX;
    memset(out, 0, sizeof *out);
    for (uint64_t i = 0; i < dg_dataset_count(d); i++) {
        const struct dg_shard_entry *e = dg_dataset_entry(d, i);
        uint32_t s = e->source_len, t = e->target_len;
        uint32_t longer = s > t ? s : t;
        shortest = longer < shortest ? longer : shortest;
        out->max_source = s > out->max_source ? s : out->max_source;
        out->max_target = t > out->max_target ? t : out->max_target;
        uint64_t copies = o->shuffle ? (uint64_t)ceil(dg_dataset_weight_most(d, e)) : 1;
        counts[0][s < LENGTHS ? s : LENGTHS - 1] += copies;
        counts[1][t < LENGTHS ? t : LENGTHS - 1] += copies;
    }
    if (o->mode == DG_BATCH_PADDED) {
        out->sentences = o->batch_tokens / shortest ? o->batch_tokens / shortest : 1;
    } else {
        uint64_t by_source = most_that_fit(counts[0], o->batch_tokens),
                 by_target = most_that_fit(counts[1], o->batch_tokens);
        out->sentences = by_source < by_target ? by_source : by_target;
    }
    out->source_tokens = out->max_source > o->batch_tokens ? out->max_source : o->batch_tokens;
    out->target_tokens = out->max_target > o->batch_tokens ? out->max_target : o->batch_tokens;
    if (d->draw) { /* sentences grow after the cut */
        out->max_source = out->max_target = d->max_drawn;
        out->source_tokens = out->sentences * out->max_source;
        out->target_tokens = out->sentences * out->max_target;
    }
}
