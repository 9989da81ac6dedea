/* Prepare's last pass over the training pairs, if the recipe guides alignment: each shard gets a
 * file of links beside it. */
#include "trainer/prepare/prepare_internal.h"

#include "base/alloc.h"
#include "trainer/data/dataset.h"
#include "trainer/data/link_file.h"
#include "trainer/align/aligner.h"
#include "trainer/align/tree_links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct aligning {
    struct dg_prepare_job *job;
    /* shards of the training set, in the manifest under construction */
    struct dg_json *shards;
    /* [n] */
    char **paths;
    size_t n;
    struct dg_dataset *data;
    /* one of these two is set: for targets that are text, or trees */
    struct dg_aligner *aligner;
    struct dg_tree_linker *trees;
    /* pairs done */
    uint64_t at;
};

/* train-00000.shard -> train-00000.links */
static char *links_path(const char *shard)
{
    return dg_alloc_print("%.*s.links", (int)(strlen(shard) - strlen(".shard")), shard);
}

static void find_shards(struct aligning *a)
{
    struct dg_json *set = dg_json_at(a->job->sets, 0); /* the training set is encoded first */
    a->shards = dg_json_get(set, "shards");
    a->n = dg_json_length(a->shards);
    a->paths = dg_alloc(a->n + 1, sizeof *a->paths, "paths");
    for (size_t i = 0; i < a->n; i++)
        a->paths[i] = dg_alloc_path(
            a->job->o->dir, dg_json_string(dg_json_get(dg_json_at(a->shards, i), "file"), NULL));
}

static int open_aligner(struct aligning *a, struct dg_error *err)
{
    const struct dg_vocabulary *v = a->job->vocabulary;
    const struct dg_dataset_options data = {.batch_tokens = 1, .window = 1};
    const struct dg_aligner_options o = {.source_vocab = (uint32_t)dg_tokenizer_size(v->source),
        .target_vocab = (uint32_t)dg_tokenizer_size(v->target),
        .eos = v->eos,
        .unlinked = v->back_translated};
    const bool trees = dg_recipe_has_trees(a->job->r);
    if (!trees)
        dg_progress_draw(&a->job->progress, "learning which piece translates which");
    int rc = dg_dataset_open_shards((const char *const *)a->paths, a->n, &data, &a->data, err);
    if (!rc && trees)
        rc = dg_tree_linker_new(a->data, v, &a->trees, err);
    else if (!rc)
        a->aligner = dg_aligner_new(a->data, &o);
    return rc;
}

static int write_links(struct aligning *a, const struct dg_shard *shard,
    struct dg_link_file_writer *w, struct dg_error *err)
{
    int rc = 0;
    for (uint64_t i = 0; i < dg_shard_info(shard)->sentences && rc == 0; i++, a->at++) {
        const int32_t tag = a->job->vocabulary->tags[dg_dataset_direction(a->data, a->at)];
        size_t n;
        const struct dg_link *links = a->trees ? dg_tree_linker_links(a->trees, a->at, &n)
                                               : dg_aligner_links(a->aligner, a->at, tag, &n);
        rc = dg_link_file_add(w, links, n, err);
        if (rc == 0 && i % 4096 == 0)
            rc = dg_prepare_check(a->job, err);
        dg_progress_pairs(&a->job->progress, "aligning", a->at, dg_dataset_count(a->data));
    }
    return rc;
}

static int note(
    struct dg_json *shard, const char *path, const struct dg_link_info *info, struct dg_error *err)
{
    char hex[20];
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)info->checksum);
    struct dg_json *o = dg_json_new_object();
    dg_json_set_string(o, "file", strrchr(path, '/') + 1);
    dg_json_set_int(o, "bytes", (int64_t)info->bytes);
    dg_json_set_int(o, "links", (int64_t)info->links);
    dg_json_set_string(o, "xxh3", hex);
    return dg_json_set_take(shard, "alignments", o)
               ? dg_error_set(err, DG_ENOMEM, "out of memory for the manifest")
               : 0;
}

static int align_shard(struct aligning *a, size_t i, struct dg_error *err)
{
    struct dg_shard *shard = NULL;
    struct dg_link_file_writer *w = NULL;
    struct dg_link_info info;
    char *path = links_path(a->paths[i]);
    int rc = dg_shard_open(a->paths[i], &shard, err);
    if (rc == 0)
        rc = dg_link_file_begin(path, &w, err);
    if (rc == 0)
        rc = write_links(a, shard, w, err);
    if (rc == 0) {
        rc = dg_link_file_commit_take(w, shard, &info, err);
        w = NULL;
    }
    if (rc == 0)
        rc = note(dg_json_at(a->shards, i), path, &info, err);
    dg_link_file_abort(w);
    dg_shard_close(shard);
    free(path);
    return rc;
}

int dg_prepare_links(struct dg_prepare_job *j, struct dg_error *err)
{
    struct aligning a = {.job = j};
    if (!dg_recipe_guides(j->r))
        return 0;
    find_shards(&a);
    int rc = open_aligner(&a, err);
    for (size_t i = 0; i < a.n && rc == 0; i++)
        rc = align_shard(&a, i, err);
    dg_aligner_free(a.aligner);
    dg_tree_linker_free(a.trees);
    dg_dataset_close(a.data);
    for (size_t i = 0; i < a.n && a.paths; i++)
        free(a.paths[i]);
    free(a.paths);
    return rc;
}
