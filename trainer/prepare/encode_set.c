#include "trainer/prepare/encode_set.h"

#include "base/alloc.h"
#include "trainer/data/characters.h"

#include <stdio.h>
#include <stdlib.h>

#define SHARD_TOKENS (UINT64_C(64) << 20)

int dg_encode_set_end(struct dg_encode_set *s, struct dg_error *err)
{
    struct dg_shard_info info;
    struct dg_json *o;
    char hex[20];
    if (!s->shard)
        return 0;
    int rc = dg_shard_commit_take(s->shard, &info, err);
    s->shard = NULL;
    if (rc)
        return rc;
    o = dg_json_new_object();
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)info.checksum);
    dg_json_set_string(o, "file", s->file);
    dg_json_set_int(o, "bytes", (int64_t)info.bytes);
    dg_json_set_int(o, "sentences", (int64_t)info.sentences);
    dg_json_set_int(o, "source_tokens", (int64_t)info.source_tokens);
    dg_json_set_int(o, "target_tokens", (int64_t)info.target_tokens);
    dg_json_set_string(o, "xxh3", hex);
    return dg_json_append_take(s->list, o)
               ? dg_error_set(err, DG_ENOMEM, "out of memory for the manifest")
               : 0;
}

static int open_shard(struct dg_prepare_job *j, struct dg_encode_set *s, struct dg_error *err)
{
    snprintf(s->file, sizeof s->file, "%s-%05u.shard", s->name, s->n_shards++);
    char *path = dg_alloc_path(j->o->dir, s->file);
    int rc = dg_shard_begin(path, dg_tokenizer_size(j->vocabulary->source),
        dg_tokenizer_size(j->vocabulary->target), &s->shard, err);
    free(path);
    return rc;
}

/* Writes one direction of an encoded pair into the set. */
static int write_direction(struct dg_encode_block *b, struct dg_encode_set *s,
    const struct dg_encoded_pair *e, struct dg_encode_task *t, size_t direction,
    struct dg_error *err)
{
    const struct dg_recipe_direction *d = &b->job->r->data.directions[direction];
    const struct dg_encode_side *from = &e->sides[d->reversed], *to = &e->sides[!d->reversed];
    int32_t tag = b->job->vocabulary->tags[direction];
    t->ids[from->ids] = tag;
    struct dg_shard_entry entry = {0, (uint32_t)(from->n + (tag >= 0)), (uint32_t)to->n,
        e->pair.weight, (uint16_t)direction, (uint16_t)e->pair.domain};
    if (s->shard && dg_shard_tokens(s->shard) >= SHARD_TOKENS) {
        int rc = dg_encode_set_end(s, err);
        if (rc)
            return rc;
    }
    if (!s->shard) {
        int rc = open_shard(b->job, s, err);
        if (rc)
            return rc;
    }
    return dg_shard_add(
        s->shard, &entry, t->ids + from->ids + (tag < 0), t->ids + to->ids + 1, err);
}

/* Records a pair of a dev or test set, with the length of its longer side as the model sees it: the
 * source's tag counts. */
static void note_held_out(const struct dg_encode_block *b, struct dg_encode_set *s,
    const struct dg_encoded_pair *e, bool left_out)
{
    const bool reversed = b->job->r->data.directions[s->direction].reversed;
    const size_t source = e->sides[reversed].n + (b->job->vocabulary->tags[s->direction] >= 0),
                 target = e->sides[!reversed].n, n = source > target ? source : target;
    s->longest = n > s->longest ? (uint32_t)n : s->longest;
    s->left_out += left_out;
}

/* True if a kept pair is written in direction i. */
static bool has_direction(const struct dg_encode_block *b, const struct dg_encode_set *s,
    const struct dg_encoded_pair *e, size_t i)
{
    const struct dg_recipe_direction *d = &b->job->r->data.directions[i];
    return (s->direction >= 0 ? (size_t)s->direction == i : d->pair == e->pair.pair) &&
           !e->left_out[d->reversed];
}

/* Records a kept pair of the recipe's files (not another form of one). */
static void note_training(const struct dg_encode_block *b, const struct dg_encoded_pair *e)
{
    for (int side = 0; side < 2; side++)
        dg_characters_tally(
            b->text.data + e->sides[side].text, e->sides[side].len, b->job->characters);
}

int dg_encode_set_flush(struct dg_encode_set *s, struct dg_encode_block *b, struct dg_error *err)
{
    struct dg_prepare_job *j = b->job;
    const bool held_out = s->direction >= 0;
    int rc = 0;
    dg_encode_block_run(b);
    for (size_t k = 0; k < b->n && rc == 0; k++) {
        struct dg_encode_task *t = &b->tasks[k / DG_ENCODE_TASK_PAIRS];
        const struct dg_encoded_pair *e = &b->pairs[k];
        if (t->err.code)
            return dg_error_set(err, t->err.code, "%s", t->err.message);
        enum dg_drop why = dg_clean_tokens(&j->r->cleaning, e->sides[0].n, e->sides[1].n);
        if (held_out && why == DG_DROP_TOKEN_RATIO)
            why = DG_KEEP;
        if (held_out)
            note_held_out(b, s, e, why != DG_KEEP);
        else if (!e->variant)
            j->counts[e->pair.file].by[why]++;
        if (why != DG_KEEP)
            continue;
        if (!held_out && !e->variant)
            note_training(b, e);
        for (size_t d = 0; d < j->r->data.n_directions && rc == 0; d++)
            if (has_direction(b, s, e, d))
                rc = write_direction(b, s, e, t, d, err);
    }
    dg_encode_block_reset(b);
    return rc;
}

int dg_encode_set_list_take(
    struct dg_encode_set *s, struct dg_prepare_job *j, struct dg_json *o, struct dg_error *err)
{
    dg_json_set_string(o, "name", s->name);
    dg_json_set_take(o, "shards", s->list);
    return dg_json_append_take(j->sets, o)
               ? dg_error_set(err, DG_ENOMEM, "out of memory for the manifest")
               : 0;
}
