#include "trainer/prepare/prepare_internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/cores.h"
#include "base/file.h"
#include "trainer/data/characters.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int dg_prepare_check(const struct dg_prepare_job *j, struct dg_error *err)
{
    if (j->o->stop && *j->o->stop)
        return dg_error_set(err, DG_ECANCELED, "preparation stopped; the next run starts it again");
    return 0;
}

/* True if the folder holds what this recipe and inputs give, with every shard in full size. */
static bool is_current(const struct dg_prepare_options *o, const char *hash)
{
    struct dg_prepared *p = NULL;
    bool current =
        dg_prepared_open(o->dir, &p, NULL) == 0 && strcmp(dg_prepared_hash(p), hash) == 0;
    dg_prepared_close(p);
    return current;
}

/* Removes prepare's own files and what a killed prepare left; anything else in the folder stays.
 * The manifest goes first, so that a half-made folder is never taken for a complete one. */
static int clear_folder(const struct dg_prepare_job *j, struct dg_error *err)
{
    char *manifest = dg_alloc_path(j->o->dir, "prepared.json");
    int rc = remove(manifest) && errno != ENOENT
                 ? dg_error_set(err, DG_EIO, "cannot remove %s: %s", manifest, strerror(errno))
                 : 0;
    free(manifest);
    if (rc)
        return rc;
    DIR *d = opendir(j->o->dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (dg_file_ends_in(e->d_name, ".shard") || dg_file_ends_in(e->d_name, ".links"))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    dg_file_drop_unfinished(j->o->dir);
    return 0;
}

/* Opens the lists of names first: a faulty one is refused before the data is read. */
static int open_names(struct dg_prepare_job *j, struct dg_error *err)
{
    const struct dg_recipe_data *d = &j->r->data;
    int rc = 0;
    j->names = dg_alloc(d->n_names, sizeof *j->names, "names");
    for (size_t i = 0; i < d->n_names && !rc; i++) {
        char *path = dg_recipe_path(j->r, d->names[i].file);
        rc = dg_names_open(j->r, path, &j->names[i], err);
        free(path);
    }
    return rc;
}

static int open_job(struct dg_prepare_job *j, const struct dg_recipe *r,
    const struct dg_prepare_options *o, struct dg_error *err)
{
    const int threads = o->threads > 0 ? o->threads : dg_cores_available();
    memset(j, 0, sizeof *j);
    j->r = r;
    j->o = o;
    dg_progress_init(&j->progress, !o->quiet);
    for (size_t i = 0; i < r->data.n_pairs; i++)
        j->n_files += r->data.pairs[i].n_train;
    j->counts = dg_alloc(j->n_files, sizeof *j->counts, "counts of lines");
    j->characters = dg_alloc(dg_characters_count(), sizeof *j->characters, "counts of characters");
    j->sets = dg_json_new_array();
    dg_alloc_check(j->sets, "a list of sets");
    int rc = dg_file_make_dir(o->dir, err);
    if (rc == 0)
        rc = clear_folder(j, err);
    if (rc == 0)
        rc = dg_pool_open(threads, 0, &j->pool, err);
    if (rc == 0)
        dg_pool_keep_shared(j->pool);
    if (rc == 0)
        rc = dg_pairs_open(o->dir, &j->pairs, err);
    return rc ? rc : open_names(j, err);
}

static void close_job(struct dg_prepare_job *j)
{
    dg_progress_clear(&j->progress);
    dg_vocabulary_close(j->vocabulary);
    for (size_t i = 0; j->dictionaries && i < j->r->data.n_pairs; i++)
        dg_dictionary_close(j->dictionaries[i]);
    free(j->dictionaries);
    for (size_t i = 0; j->names && i < j->r->data.n_names; i++)
        dg_names_close(j->names[i]);
    free(j->names);
    dg_pairs_close(j->pairs);
    dg_hash_set_free(j->held_out);
    dg_near_copies_free(j->near);
    dg_pool_close(j->pool);
    dg_json_free(j->sets);
    for (size_t i = 0; i < j->n_domains; i++)
        free(j->domains[i]);
    free(j->domains);
    free(j->characters);
    free(j->counts);
}

static int make_vocabulary(struct dg_prepare_job *j, struct dg_error *err)
{
    const struct dg_recipe *r = j->r;
    const char *from = dg_recipe_keeps_vocabulary(r) ? "init"
                       : r->vocabulary.from[0]       ? "vocabulary.from"
                                                     : NULL;
    int rc = dg_prepare_check(j, err);
    if (rc)
        return rc;
    if (from) {
        rc = dg_vocabulary_import(r, j->o->dir, err);
    } else {
        dg_progress_draw(&j->progress, "training the vocabulary");
        rc = dg_vocabulary_train(r, j->pairs, dg_pool_threads(j->pool), j->o->dir, err);
    }
    if (rc == 0)
        rc = dg_vocabulary_open(r, j->o->dir, &j->vocabulary, err);
    return rc && from ? dg_error_prefix(err, "%s", from) : rc;
}

static struct dg_json *count_json(const struct dg_prepare_count *c)
{
    struct dg_json *o = dg_json_new_object(), *dropped = dg_json_new_object();
    for (int why = DG_KEEP + 1; why < DG_N_DROPS; why++)
        dg_json_set_int(dropped, dg_drop_name((enum dg_drop)why), (int64_t)c->by[why]);
    dg_json_set_int(o, "read", (int64_t)c->read);
    dg_json_set_int(o, "kept", (int64_t)c->by[DG_KEEP]);
    dg_json_set_take(o, "dropped", dropped);
    return o;
}

static struct dg_json *counts_json(const struct dg_prepare_job *j)
{
    struct dg_json *o = dg_json_new_object(), *files = dg_json_new_array();
    struct dg_prepare_count total = {0};
    size_t file = 0;
    for (size_t i = 0; i < j->r->data.n_pairs; i++)
        for (size_t k = 0; k < j->r->data.pairs[i].n_train; k++, file++) {
            const struct dg_prepare_count *c = &j->counts[file];
            struct dg_json *f = count_json(c);
            dg_json_set_string(f, "source", j->r->data.pairs[i].train[k].source);
            dg_json_set_string(f, "target", j->r->data.pairs[i].train[k].target);
            dg_json_append_take(files, f);
            total.read += c->read;
            for (int why = 0; why < DG_N_DROPS; why++)
                total.by[why] += c->by[why];
        }
    dg_json_set_take(o, "total", count_json(&total));
    dg_json_set_take(o, "files", files);
    return o;
}

static struct dg_json *vocabulary_json(const struct dg_prepare_job *j)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "source_size", dg_tokenizer_size(j->vocabulary->source));
    dg_json_set_int(o, "target_size", dg_tokenizer_size(j->vocabulary->target));
    dg_json_set_bool(o, "joint", j->vocabulary->source == j->vocabulary->target);
    dg_json_set_int(o, "eos", j->vocabulary->eos);
    dg_json_set_int(o, "unk", j->vocabulary->unk);
    return o;
}

/* Adds "rare" for the bundle's manifest, unless the vocabulary has only characters that the text
 * has. */
static void add_rare(const struct dg_prepare_job *j, struct dg_json *manifest)
{
    struct dg_buffer rare;
    if (j->r->vocabulary.characters != DG_CHARACTERS_WESTERN)
        return;
    dg_buffer_init(&rare);
    dg_characters_seldom(j->characters, &rare);
    dg_buffer_add(&rare, "", 1);
    dg_alloc_check(!rare.failed, "seldom characters");
    dg_json_set_string(manifest, "rare", rare.data);
    dg_buffer_deinit(&rare);
}

static int write_manifest(struct dg_prepare_job *j, const char *hash, const struct dg_json *inputs,
    double seconds, struct dg_error *err)
{
    struct dg_json *m = dg_json_new_object(), *domains = dg_json_new_array();
    for (size_t i = 0; i < j->n_domains; i++)
        dg_json_append_take(domains, dg_json_new_string(j->domains[i], strlen(j->domains[i])));
    dg_json_set_int(m, "format", DG_PREPARED_FORMAT);
    dg_json_set_string(m, "hash", hash);
    dg_json_set_take(m, "recipe", dg_prepare_data_part(j->r));
    dg_json_set_take(m, "inputs", dg_json_copy(inputs));
    dg_json_set_take(m, "vocabulary", vocabulary_json(j));
    add_rare(j, m);
    dg_json_set_take(m, "domains", domains);
    dg_json_set_take(m, "counts", counts_json(j));
    dg_json_set_take(m, "sets", dg_json_copy(j->sets));
    dg_json_set_real(m, "seconds", seconds);
    char *path = dg_alloc_path(j->o->dir, "prepared.json");
    int rc = dg_json_save(path, m, err);
    dg_json_free(m);
    free(path);
    return rc;
}

static int make_folder(const struct dg_recipe *r, const struct dg_prepare_options *o,
    const struct dg_json *inputs, const char *hash, struct dg_error *err)
{
    struct dg_prepare_job j;
    uint64_t start = dg_clock_ns();
    int rc = open_job(&j, r, o, err);
    if (rc == 0)
        rc = dg_prepare_held_out(&j, err);
    if (rc == 0)
        rc = dg_prepare_clean(&j, err);
    if (rc == 0 && !dg_pairs_count(j.pairs))
        rc = dg_prepare_none_left(&j, err);
    if (rc == 0)
        rc = dg_prepare_dictionary(&j, err);
    if (rc == 0)
        rc = dg_prepare_relation(&j, err);
    if (rc == 0)
        rc = make_vocabulary(&j, err);
    if (rc == 0)
        rc = dg_prepare_encode(&j, err);
    if (rc == 0) {
        dg_prepare_warn_tokens(&j);
        dg_prepare_warn_domains(&j);
    }
    if (rc == 0)
        rc = dg_prepare_links(&j, err);
    if (rc == 0)
        rc = dg_prepare_sets(&j, "dev", err);
    if (rc == 0)
        rc = dg_prepare_sets(&j, "test", err);
    if (rc == 0)
        rc = write_manifest(&j, hash, inputs, (double)(dg_clock_ns() - start) * 1e-9, err);
    close_job(&j);
    return rc;
}

static int make_locked(const struct dg_recipe *r, const struct dg_prepare_options *o,
    const struct dg_json *inputs, const char *hash, bool *made, struct dg_error *err)
{
    int making = -1, unused = -1, rc = dg_prepare_lock(o, &making, err);
    if (rc == 0 && (o->force || !is_current(o, hash))) {
        rc = dg_prepare_lock_unused(o->dir, &unused, err);
        *made = rc == 0;
        if (rc == 0)
            rc = make_folder(r, o, inputs, hash, err);
    }
    if (unused >= 0)
        close(unused);
    /* While `making` is locked, no other process begins to make the folder. */
    if (rc == 0 && o->hold)
        rc = dg_prepared_hold(o->dir, o->hold, err);
    if (making >= 0)
        close(making);
    return rc;
}

/* True if the folder is current and, if the caller wants that, held. */
static bool is_ready(const struct dg_prepare_options *o, const char *hash)
{
    if (!is_current(o, hash))
        return false;
    if (!o->hold)
        return true;
    if (dg_prepared_hold(o->dir, o->hold, NULL))
        return false;
    if (is_current(o, hash)) /* still current, now that nobody can change it */
        return true;
    if (*o->hold >= 0)
        close(*o->hold);
    *o->hold = -1;
    return false;
}

int dg_prepare(
    const struct dg_recipe *r, const struct dg_prepare_options *o, bool *made, struct dg_error *err)
{
    struct dg_json *inputs = NULL;
    char hash[33];
    bool needed = false;
    if (r->data.n_pairs == 0)
        return dg_error_field(err, DG_EINVAL, "data.pairs",
            "data.pairs is missing: the recipe does not say what to train on");
    if (o->hold)
        *o->hold = -1;
    int rc = dg_prepare_inputs(r, &inputs, err);
    if (rc == 0)
        rc = dg_prepare_hash(r, inputs, hash, err);
    /* Try without the lock first: a finished folder may be read-only. */
    if (rc == 0 && (o->force || !is_ready(o, hash)))
        rc = make_locked(r, o, inputs, hash, &needed, err);
    if (made)
        *made = needed;
    dg_json_free(inputs);
    return rc;
}
