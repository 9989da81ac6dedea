/* Opens and reads the shards of a data set. dataset_order.c orders the pairs, dataset_part.c cuts
 * batches into parts. */
#include "trainer/data/dataset_internal.h"

#include "base/alloc.h"
#include "trainer/data/noise.h"
#include "trainer/data/prepared.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_WINDOW 1000000
#define CHECKED 500

static size_t shard_index(const struct dg_dataset *d, uint64_t sentence, uint64_t *local)
{
    size_t low = 0, high = d->n_shards;
    assert(sentence < d->first[d->n_shards]);
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (d->first[middle] <= sentence)
            low = middle;
        else
            high = middle;
    }
    *local = sentence - d->first[low];
    return low;
}

static const struct dg_shard *shard_of(
    const struct dg_dataset *d, uint64_t sentence, uint64_t *local)
{
    return d->shards[shard_index(d, sentence, local)];
}

const struct dg_shard_entry *dg_dataset_entry(const struct dg_dataset *d, uint64_t sentence)
{
    uint64_t i;
    const struct dg_shard *s = shard_of(d, sentence, &i);
    return &dg_shard_entries(s)[i];
}

static int open_shards(
    struct dg_dataset *d, const char *const *paths, size_t n, struct dg_error *err)
{
    d->shards = dg_alloc(n + 1, sizeof *d->shards, "shards");
    d->first = dg_alloc(n + 1, sizeof *d->first, "shards");
    float most = 1;
    for (size_t i = 0; i < n; i++) {
        int rc = dg_shard_open(paths[i], &d->shards[i], err);
        if (rc)
            return rc;
        d->n_shards++;
        uint64_t count = dg_shard_info(d->shards[i])->sentences;
        d->first[i + 1] = d->first[i] + count;
        const struct dg_shard_entry *e = dg_shard_entries(d->shards[i]);
        for (uint64_t j = 0; j < count; j++)
            if (e[j].weight > most)
                most = e[j].weight;
    }
    if (!(most <= DG_DATASET_MAX_COPIES))
        return dg_error_set(err, DG_EFORMAT, "a weight is %g, must be at most %d", (double)most,
            DG_DATASET_MAX_COPIES);
    d->stages[0].copies = d->o.shuffle ? (uint64_t)ceilf(most) : 1;
    if (d->first[n] == 0)
        return dg_error_set(
            err, DG_EINVAL, "no pairs of sentences in %s", n ? paths[0] : "the set");
    return 0;
}

void dg_dataset_make_window(struct dg_dataset *d)
{
    uint64_t copies = 1;
    for (size_t i = 0; i <= d->o.n_stages; i++)
        copies = d->stages[i].copies > copies ? d->stages[i].copies : copies;
    const uint64_t places = dg_dataset_count(d) * copies,
                   n = d->o.window < places ? d->o.window : places;
    d->items = dg_alloc_more(d->items, (size_t)n, sizeof *d->items, "a window of pairs");
    d->sentences =
        dg_alloc_more(d->sentences, (size_t)n, sizeof *d->sentences, "a window of pairs");
}

int dg_dataset_open_shards(const char *const *paths, size_t n, const struct dg_dataset_options *o,
    struct dg_dataset **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_dataset *d = dg_alloc(1, sizeof *d, "a data set");
    d->o = *o;
    d->o.stages = NULL;
    d->o.n_stages = 0;
    d->stages = dg_alloc(1, sizeof *d->stages, "stages");
    int rc = o->batch_tokens ? open_shards(d, paths, n, err)
                             : dg_error_field(err, DG_EINVAL, "batch_tokens",
                                   "batch_tokens is 0, must be at least 1");
    d->o.window = o->window ? o->window : DEFAULT_WINDOW;
    if (rc == 0)
        dg_dataset_make_window(d);
    if (rc) {
        dg_dataset_close(d);
        return rc;
    }
    *out = d;
    return 0;
}

/* Checks that the vocabulary's ids are in the order of its merges, which BPE dropout requires: with
 * no merge skipped, 99 % of about CHECKED sentences must come back unchanged. */
static int check_draw(const struct dg_dataset *d, struct dg_sampling *plain, struct dg_error *err)
{
    uint64_t n = dg_dataset_count(d), step = n / CHECKED + 1, same = 0, seen = 0;
    for (uint64_t i = 0; i < n; i += step, seen++) {
        const struct dg_shard_entry *e = dg_dataset_entry(d, i);
        dg_dataset_ids(d, i, d->source, d->target);
        dg_sampling_begin(plain, 0);
        dg_sampling_add(plain, i, "", d->source, e->source_len, d->target, e->target_len);
        const struct dg_sampled *back = dg_sampling_find(plain, i);
        same += back->source_len == e->source_len && back->target_len == e->target_len &&
                !memcmp(dg_sampling_ids(plain, back->source), d->source,
                    e->source_len * sizeof *d->source) &&
                !memcmp(dg_sampling_ids(plain, back->target), d->target,
                    e->target_len * sizeof *d->target);
    }
    if (same * 100 < seen * 99)
        return dg_error_field(err, DG_EUNSUP, "training.bpe_dropout",
            "training.bpe_dropout needs a vocabulary with pieces in the order of BPE merges; with "
            "this one only %llu of "
            "%llu sentences are segmented as they were",
            (unsigned long long)same, (unsigned long long)seen);
    return 0;
}

static uint32_t max_tokens(const struct dg_prepared *p)
{
    const struct dg_json *recipe = dg_json_get(dg_prepared_manifest(p), "recipe");
    int64_t n = 2;
    dg_json_field_int(
        dg_json_get(recipe, "cleaning"), "cleaning", "max_pieces", 2, UINT16_MAX, &n, NULL);
    return (uint32_t)n;
}

/* max: the recipe's limit on pieces, which drawn sentences must keep, too. */
static int open_draw(
    struct dg_dataset *d, const char *prepared_dir, uint32_t max, struct dg_error *err)
{
    struct dg_sampling *plain = NULL;
    for (uint64_t i = 0; i < dg_dataset_count(d); i++) {
        const struct dg_shard_entry *e = dg_dataset_entry(d, i);
        max = e->source_len > max ? e->source_len : max;
        max = e->target_len > max ? e->target_len : max;
    }
    d->max_drawn = max;
    d->source = dg_alloc(max, sizeof *d->source, "a sentence");
    d->target = dg_alloc(max, sizeof *d->target, "a sentence");
    struct dg_sampling_options o = {.dropout = d->o.bpe_dropout > 0, .max = max};
    int rc = o.dropout ? dg_sampling_open(prepared_dir, &o, &plain, err) : 0;
    if (rc == 0 && o.dropout)
        rc = check_draw(d, plain, err);
    dg_sampling_close(plain);
    o.p = d->o.bpe_dropout;
    o.seed = d->o.seed;
    o.noise = d->o.noise;
    return rc ? rc : dg_sampling_open(prepared_dir, &o, &d->draw, err);
}

/* Opens the alignments of each shard. */
static int open_links(struct dg_dataset *d, const struct dg_prepared_set *set, struct dg_error *err)
{
    int rc = 0;
    d->links = dg_alloc(d->n_shards, sizeof *d->links, "alignments");
    for (size_t i = 0; i < d->n_shards && rc == 0; i++)
        rc = set->links[i] ? dg_link_file_open(set->links[i], d->shards[i], &d->links[i], err)
                           : dg_error_set(err, DG_ENOTFOUND, "%s was prepared without alignments",
                                 set->shards[i]);
    return rc;
}

int dg_dataset_open(const char *prepared_dir, const char *name, const struct dg_dataset_options *o,
    struct dg_dataset **out, struct dg_error *err)
{
    struct dg_prepared *p = NULL;
    *out = NULL;
    int rc = dg_prepared_open(prepared_dir, &p, err);
    if (rc)
        return rc;
    const struct dg_prepared_set *set = dg_prepared_find(p, name);
    rc = set && set->n_shards
             ? dg_dataset_open_shards(set->shards, set->n_shards, o, out, err)
             : dg_error_set(err, DG_ENOTFOUND, "%s holds no set %s", prepared_dir, name);
    /* An id that changed on the disk would be read outside of the embeddings. */
    for (size_t i = 0; rc == 0 && i < (*out)->n_shards; i++)
        rc = dg_shard_verify((*out)->shards[i], err);
    if (rc == 0 && o->shuffle && o->n_stages)
        rc = dg_dataset_open_stages(*out, o->stages, o->n_stages, p, err);
    if (rc == 0 && o->links)
        rc = open_links(*out, set, err);
    if (rc == 0 && (o->bpe_dropout > 0 || dg_noise_wanted(o->noise)))
        rc = open_draw(*out, prepared_dir, max_tokens(p), err);
    if (rc) {
        dg_dataset_close(*out);
        *out = NULL;
    }
    dg_prepared_close(p);
    return rc;
}

void dg_dataset_close(struct dg_dataset *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n_shards; i++) {
        dg_shard_close(d->shards[i]);
        if (d->links)
            dg_link_file_close(d->links[i]);
    }
    for (size_t i = 0; i <= d->o.n_stages; i++)
        free(d->stages[i].factors);
    free(d->stages);
    free(d->links);
    dg_sampling_close(d->draw);
    free(d->source);
    free(d->target);
    free(d->shards);
    free(d->first);
    free(d->items);
    free(d->sentences);
    free(d->batches);
    free(d);
}

uint64_t dg_dataset_count(const struct dg_dataset *d)
{
    return d->first[d->n_shards];
}

void dg_dataset_lengths(
    const struct dg_dataset *d, uint64_t sentence, uint32_t *source_len, uint32_t *target_len)
{
    const struct dg_sampled *drawn = d->draw ? dg_sampling_find(d->draw, sentence) : NULL;
    const struct dg_shard_entry *e = dg_dataset_entry(d, sentence);
    *source_len = drawn ? drawn->source_len : e->source_len;
    *target_len = drawn ? drawn->target_len : e->target_len;
}

void dg_dataset_ids(const struct dg_dataset *d, uint64_t sentence, int32_t *source, int32_t *target)
{
    const struct dg_sampled *drawn = d->draw ? dg_sampling_find(d->draw, sentence) : NULL;
    uint64_t i;
    if (!drawn) {
        const struct dg_shard *s = shard_of(d, sentence, &i);
        dg_shard_ids(s, i, source, target);
        return;
    }
    if (source)
        memcpy(source, dg_sampling_ids(d->draw, drawn->source), drawn->source_len * sizeof *source);
    if (target)
        memcpy(target, dg_sampling_ids(d->draw, drawn->target), drawn->target_len * sizeof *target);
}

void dg_dataset_draw(struct dg_dataset *d, const uint64_t *sentences, size_t n, uint64_t epoch)
{
    if (!d->draw)
        return;
    dg_sampling_begin(d->draw, epoch);
    for (size_t i = 0; i < n; i++) {
        const struct dg_shard_entry *e = dg_dataset_entry(d, sentences[i]);
        uint64_t local;
        const struct dg_shard *s = shard_of(d, sentences[i], &local);
        dg_shard_ids(s, local, d->source, d->target);
        const char *language = d->o.directions ? d->o.directions[e->direction].source_lang : "";
        dg_sampling_add(
            d->draw, sentences[i], language, d->source, e->source_len, d->target, e->target_len);
    }
    dg_sampling_end(d->draw);
}

const struct dg_link *dg_dataset_links(const struct dg_dataset *d, uint64_t sentence, size_t *n)
{
    uint64_t local;
    const size_t i = shard_index(d, sentence, &local);
    *n = 0;
    return d->links ? dg_link_file_links(d->links[i], local, n) : NULL;
}

uint32_t dg_dataset_direction(const struct dg_dataset *d, uint64_t sentence)
{
    return dg_dataset_entry(d, sentence)->direction;
}
