#include "trainer/run/export.h"

#include "base/alloc.h"
#include "base/file.h"
#include "model/param_block.h"
#include "trainer/align/guided.h"
#include "trainer/data/reserved.h"
#include "trainer/run/report.h"
#include "weights/bundle.h"
#include "weights/shortlist.h"
#include "weights/weights.h"
#include "translate/run/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WEIGHTS "weights.dgw"

static int write_weights(const struct dg_export *e, struct dg_error *err)
{
    struct dg_weights_writer *w = NULL;
    const bool half = !e->full_precision && !strcmp(e->recipe->output.type, "f16");
    char *path = dg_alloc_path(e->dir, WEIGHTS);
    int rc = dg_weights_writer_open(&w, err);
    for (size_t i = 0; i < dg_params_count(e->config) && !rc; i++) {
        struct dg_param_info info;
        dg_params_info(e->config, i, &info);
        /* Vectors stay fp32: they are small, and gains near 1 are where f16 has its coarsest
         * steps. */
        enum dg_type type = half && !(info.use & DG_USE_VECTOR) ? DG_F16 : DG_F32;
        rc = dg_weights_writer_add(w, info.name, info.N, info.K, type,
            e->params + dg_param_block_offset(e->config, i), err);
    }
    if (!rc)
        rc = dg_weights_writer_commit(w, path, err);
    dg_weights_writer_close(w);
    free(path);
    return rc;
}

/* prepared_dir/from -> dir/to */
static int copy(const struct dg_export *e, const char *from, const char *to, struct dg_error *err)
{
    char *in = dg_alloc_path(e->prepared_dir, from), *out = dg_alloc_path(e->dir, to);
    int rc = dg_file_copy(in, out, err);
    free(in);
    free(out);
    return rc;
}

/* File names of one kind ("spm", "vocab"). If both sides are the same, the bundle has only
 * `joint`. */
struct side_files {
    /* in the prepared folder and, if the sides differ, in the bundle */
    char source[32], target[32];
    char joint[32];
    bool same;
};

static int name_sides(
    const struct dg_export *e, const char *kind, struct side_files *f, struct dg_error *err)
{
    snprintf(f->source, sizeof f->source, "source.%s", kind);
    snprintf(f->target, sizeof f->target, "target.%s", kind);
    snprintf(f->joint, sizeof f->joint, "joint.%s", kind);
    return dg_prepared_same(e->prepared_dir, kind, &f->same, err);
}

static int copy_sides(const struct dg_export *e, const char *kind, struct dg_error *err)
{
    struct side_files f;
    int rc = name_sides(e, kind, &f, err);
    if (!rc)
        rc = copy(e, f.source, f.same ? f.joint : f.source, err);
    return rc || f.same ? rc : copy(e, f.target, f.target, err);
}

/* Add the manifest's "files". */
static int add_files(const struct dg_export *e, struct dg_json *manifest, struct dg_error *err)
{
    static const char *const kinds[] = {"spm", "vocab"};
    struct dg_json *files = dg_json_new_object();
    struct side_files f;
    int rc = 0, bad = dg_json_set_string(files, "weights", WEIGHTS);
    for (size_t i = 0; i < 2 && !rc; i++) {
        char key[32];
        rc = name_sides(e, kinds[i], &f, err);
        snprintf(key, sizeof key, "source_%s", kinds[i]);
        bad |= rc ? 0 : dg_json_set_string(files, key, f.same ? f.joint : f.source);
        snprintf(key, sizeof key, "target_%s", kinds[i]);
        bad |= rc ? 0 : dg_json_set_string(files, key, f.same ? f.joint : f.target);
    }
    if (e->shortlist)
        bad |= dg_json_set_string(files, "shortlist", DG_SHORTLIST_FILE);
    bad |= dg_json_set_take(manifest, "files", files);
    return rc || !bad ? rc : dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
}

static struct dg_json *pairs_of(const struct dg_recipe *r)
{
    struct dg_json *pairs = dg_json_new_array();
    for (size_t i = 0; i < r->data.n_directions; i++) {
        const struct dg_recipe_direction *d = &r->data.directions[i];
        struct dg_json *pair = dg_json_new_array();
        dg_json_append_take(pair, dg_json_new_string(d->source_lang, strlen(d->source_lang)));
        dg_json_append_take(pair, dg_json_new_string(d->target_lang, strlen(d->target_lang)));
        dg_json_append_take(pairs, pair);
    }
    return pairs;
}

/* Target language -> piece, NULL when the model needs none. */
static struct dg_json *tags_of(const struct dg_recipe *r)
{
    struct dg_json *tags = NULL;
    for (size_t i = 0; i < r->data.n_directions; i++) {
        const struct dg_recipe_direction *d = &r->data.directions[i];
        if (!d->tag[0])
            continue;
        if (!tags)
            tags = dg_json_new_object();
        dg_json_set_string(tags, d->target_lang, d->tag);
    }
    return tags;
}

static struct dg_json *reserved_of(const struct dg_recipe *r)
{
    struct dg_json *list = dg_json_new_array();
    for (int64_t i = 0; i < r->vocabulary.reserved; i++) {
        char name[DG_RESERVED_NAME];
        dg_reserved_name(i, name);
        dg_json_append_take(list, dg_json_new_string(name, strlen(name)));
    }
    return list;
}

static struct dg_json *make_manifest(const struct dg_export *e)
{
    const struct dg_recipe *r = e->recipe;
    struct dg_json *m = dg_json_new_object(), *tags = tags_of(r);
    struct dg_guidance guide;
    dg_json_set_int(m, "format", 1);
    dg_json_set_string(m, "name", r->name);
    if (r->output.description[0])
        dg_json_set_string(m, "description", r->output.description);
    if (r->output.licence[0])
        dg_json_set_string(m, "licence", r->output.licence);
    dg_json_set_take(m, "pairs", pairs_of(r));
    if (tags)
        dg_json_set_take(m, "tags", tags);
    if (dg_guided_of(r, e->config, &guide)) {
        dg_json_set_int(m, "alignment_layer", guide.layer + 1);
        if (guide.n_heads == 1)
            dg_json_set_int(m, "alignment_head", guide.head + 1);
    }
    if (!strcmp(r->output.capitals, "as_words"))
        dg_json_set_string(m, "capitals", r->output.capitals);
    if (dg_recipe_has_trees(r))
        dg_json_set_string(m, "answers", r->output.answers);
    if (r->vocabulary.reserved)
        dg_json_set_take(m, "reserved", reserved_of(r));
    const char *rare = dg_json_string(dg_json_get(dg_prepared_manifest(e->prepared), "rare"), NULL);
    if (rare && rare[0])
        dg_json_set_string(m, "rare", rare);
    if (e->shortlist)
        dg_json_set_take(m, "shortlist", dg_json_copy(e->shortlist));
    if (e->training)
        dg_json_set_take(m, "training", dg_json_copy(e->training));
    return m;
}

/* The vocabularies are copied from prepared_dir, so it must still hold the data trained on. */
static int check_prepared(const struct dg_export *e, struct dg_error *err)
{
    struct dg_prepared *now = NULL;
    int rc = dg_prepared_open(e->prepared_dir, &now, err);
    if (!rc && strcmp(dg_prepared_hash(now), dg_prepared_hash(e->prepared)))
        rc = dg_error_set(err, DG_EINVAL,
            "the prepared data in %s was replaced during the run: its hash is %s, was %s",
            e->prepared_dir, dg_prepared_hash(now), dg_prepared_hash(e->prepared));
    dg_prepared_close(now);
    return rc;
}

int dg_export_seal(const struct dg_export *e, struct dg_error *err)
{
    struct dg_config config = *e->config;
    /* Requests that name no search settings get those that the recipe validated with. */
    config.beam = (uint32_t)e->recipe->validation.beam;
    config.alpha = (float)e->recipe->validation.alpha;
    config.extra_length = (uint32_t)e->recipe->validation.extra_length;
    struct dg_json *manifest = make_manifest(e);
    int rc = add_files(e, manifest, err);
    if (!rc && dg_config_write(&config, manifest))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
    if (!rc && e->calibrated)
        rc = dg_calibrated_write(e->calibrated, &config, manifest, err);
    if (!rc)
        rc = dg_bundle_seal(e->dir, manifest, err);
    if (!rc)
        rc = dg_check_write(e->dir, err);
    if (!rc && e->training)
        rc = dg_report_card(e->dir, e->recipe, &config, e->training, err);
    dg_json_free(manifest);
    return rc;
}

void dg_export_remove_shortlist(const struct dg_export *e)
{
    char *path = dg_alloc_path(e->dir, DG_SHORTLIST_FILE);
    unlink(path);
    free(path);
}

int dg_export(const struct dg_export *e, struct dg_error *err)
{
    int rc = check_prepared(e, err);
    if (!rc)
        rc = dg_bundle_begin(e->dir, err);
    if (!rc)
        dg_export_remove_shortlist(e); /* left by an earlier bundle in the folder */
    if (!rc)
        rc = write_weights(e, err);
    if (!rc)
        rc = copy_sides(e, "spm", err);
    if (!rc)
        rc = copy_sides(e, "vocab", err);
    return rc ? rc : dg_export_seal(e, err);
}
