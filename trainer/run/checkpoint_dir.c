#include "trainer/run/checkpoint_dir.h"

#include "base/alloc.h"
#include "base/file.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *dg_checkpoint_dir_path(const struct dg_checkpoint_dir *k, uint64_t step)
{
    return dg_alloc_print("%s/%08" PRIu64 ".ckpt", k->dir, step);
}

static void push(struct dg_checkpoint_dir *k, struct dg_kept kept)
{
    k->kept = dg_alloc_grow(k->kept, k->n + 1, &k->cap, sizeof *k->kept, "the list of checkpoints");
    k->kept[k->n++] = kept;
}

static float read_score(const struct dg_json *v)
{
    return dg_json_typeof(v) == DG_JSON_NULL ? NAN : (float)dg_json_number(v);
}

static int read_index(struct dg_checkpoint_dir *k, const char *path, struct dg_error *err)
{
    struct dg_json *index = dg_json_load(path, err);
    const struct dg_json *list = dg_json_get(index, "checkpoints"),
                         *best = dg_json_get(index, "best");
    int64_t bad = 0, validated = 0, best_step = 0;
    if (!index)
        return DG_EFORMAT;
    int rc = dg_json_field_int(index, NULL, "bad", 0, INT64_MAX, &bad, err);
    if (!rc)
        rc = dg_json_field_int(index, NULL, "validated", 0, INT64_MAX, &validated, err);
    if (!rc)
        rc = dg_json_field_int(index, NULL, "best_step", 0, INT64_MAX, &best_step, err);
    k->best_step = (uint64_t)best_step;
    k->bad = (uint64_t)bad;
    k->validated = (uint64_t)validated;
    k->best = read_score(best);
    for (size_t i = 0; i < dg_json_length(list) && !rc; i++) {
        const struct dg_json *e = dg_json_at(list, i), *score = dg_json_get(e, "score");
        int64_t step = -1;
        rc = dg_json_field_int(e, NULL, "step", 0, INT64_MAX, &step, err);
        if (!rc && (step < 0 || (k->n && (uint64_t)step <= k->kept[k->n - 1].step)))
            rc = dg_error_set(
                err, DG_EFORMAT, "checkpoints[%zu] is not a later step than the one before", i);
        if (!rc)
            push(k, (struct dg_kept){(uint64_t)step, read_score(score),
                        dg_json_bool(dg_json_get(e, "extra")) ? DG_KEPT_EXTRA : DG_KEPT_DUE});
    }
    dg_json_free(index);
    return rc ? dg_error_prefix(err, "%s", path) : 0;
}

int dg_checkpoint_dir_open(const char *dir, size_t keep_last, size_t keep_best,
    struct dg_checkpoint_dir **out, struct dg_error *err)
{
    struct dg_checkpoint_dir *k = dg_alloc(1, sizeof *k, "the list of checkpoints");
    char *index = dg_alloc_path(dir, "index.json");
    k->dir = dg_alloc_string(dir);
    k->keep_last = keep_last ? keep_last : 1;
    k->keep_best = keep_best;
    k->best = NAN;
    int rc = dg_file_make_dir(dir, err);
    if (!rc && access(index, F_OK) == 0)
        rc = read_index(k, index, err);
    free(index);
    if (rc) {
        dg_checkpoint_dir_close(k);
        return rc;
    }
    *out = k;
    return 0;
}

void dg_checkpoint_dir_close(struct dg_checkpoint_dir *k)
{
    if (!k)
        return;
    free(k->dir);
    free(k->kept);
    free(k);
}

/* True if the marker names the file. */
static bool is_listed(const struct dg_checkpoint_dir *k, const char *name)
{
    for (size_t i = 0; i < k->n; i++) {
        char listed[48];
        snprintf(listed, sizeof listed, "%08" PRIu64 ".ckpt", k->kept[i].step);
        if (!strcmp(name, listed))
            return true;
    }
    return false;
}

void dg_checkpoint_dir_clean(const struct dg_checkpoint_dir *k)
{
    DIR *dir = opendir(k->dir);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        const char *end = strrchr(e->d_name, '.');
        bool stale = strstr(e->d_name, ".tmp-") ||
                     (end && !strcmp(end, ".ckpt") && !is_listed(k, e->d_name));
        char *path = stale ? dg_alloc_path(k->dir, e->d_name) : NULL;
        if (path)
            unlink(path);
        free(path);
    }
    if (dir)
        closedir(dir);
}

static int write_index(const struct dg_checkpoint_dir *k, struct dg_error *err)
{
    struct dg_json *index = dg_json_new_object(), *list = dg_json_new_array();
    char *path = dg_alloc_path(k->dir, "index.json");
    for (size_t i = 0; i < k->n; i++) {
        struct dg_json *e = dg_json_new_object();
        dg_json_set_int(e, "step", (int64_t)k->kept[i].step);
        dg_json_set_real(e, "score", k->kept[i].score);
        if (k->kept[i].kind == DG_KEPT_EXTRA)
            dg_json_set_bool(e, "extra", true);
        dg_json_append_take(list, e);
    }
    dg_json_set_take(index, "checkpoints", list);
    dg_json_set_real(index, "best", k->best); /* NaN: null */
    dg_json_set_int(index, "best_step", (int64_t)k->best_step);
    dg_json_set_int(index, "bad", (int64_t)k->bad);
    dg_json_set_int(index, "validated", (int64_t)k->validated);
    int rc = dg_json_save(path, index, err);
    free(path);
    dg_json_free(index);
    return rc;
}

/* Number of due checkpoints after this one. */
static size_t due_after(const struct dg_checkpoint_dir *k, size_t i)
{
    size_t n = 0;
    for (size_t j = i + 1; j < k->n; j++)
        n += k->kept[j].kind == DG_KEPT_DUE;
    return n;
}

size_t dg_checkpoint_dir_last(const struct dg_checkpoint_dir *k, size_t n, uint64_t *steps)
{
    size_t found = 0;
    for (size_t i = 0; i < k->n; i++)
        if (k->kept[i].kind == DG_KEPT_DUE && due_after(k, i) < n)
            steps[found++] = k->kept[i].step;
    if (!found && n && k->n)
        steps[found++] = k->kept[k->n - 1].step;
    return found;
}

/* Number of validated checkpoints that rank before this one by score; later ones win ties. */
static size_t rank_of(const struct dg_checkpoint_dir *k, size_t i)
{
    size_t rank = 0;
    for (size_t j = 0; j < k->n; j++)
        rank +=
            k->kept[j].score > k->kept[i].score || (j > i && k->kept[j].score == k->kept[i].score);
    return rank;
}

size_t dg_checkpoint_dir_best(const struct dg_checkpoint_dir *k, size_t n, uint64_t *steps)
{
    size_t found = 0;
    for (size_t i = 0; i < k->n; i++)
        if (!isnan(k->kept[i].score) && rank_of(k, i) < n)
            steps[found++] = k->kept[i].step;
    return found;
}

static bool is_kept(const struct dg_checkpoint_dir *k, size_t i)
{
    const struct dg_kept *c = &k->kept[i];
    const bool is_last = c->kind == DG_KEPT_DUE ? due_after(k, i) < k->keep_last : i + 1 == k->n;
    return is_last || (!isnan(c->score) && rank_of(k, i) < k->keep_best);
}

/* Remove checkpoints that need not be kept from the list and write their steps to gone[]. Return
 * how many. */
static size_t drop_old(struct dg_checkpoint_dir *k, uint64_t *gone)
{
    size_t n = 0, left = 0;
    for (size_t i = 0; i < k->n; i++)
        if (!is_kept(k, i))
            gone[n++] = k->kept[i].step;
    for (size_t i = 0; i < k->n; i++)
        if (i - left == n || k->kept[i].step != gone[i - left])
            k->kept[left++] = k->kept[i];
    k->n = left;
    return n;
}

static void remove_file(const struct dg_checkpoint_dir *k, uint64_t step)
{
    char *path = dg_checkpoint_dir_path(k, step);
    unlink(path);
    free(path);
}

int dg_checkpoint_dir_add(struct dg_checkpoint_dir *k, const struct dg_checkpoint_state *s,
    const struct dg_checkpoint_blocks *b, enum dg_kept_kind kind, struct dg_error *err)
{
    char *path = dg_checkpoint_dir_path(k, s->step);
    uint64_t *gone = dg_alloc(k->n + 1, sizeof *gone, "a list of checkpoints");
    int rc = dg_checkpoint_write(path, s, b, err);
    size_t before = k->n, n_gone = 0;
    /* A run that resumed from an older checkpoint writes later steps again. */
    while (!rc && k->n && k->kept[k->n - 1].step >= s->step)
        k->n--;
    for (size_t i = k->n; !rc && i < before; i++)
        if (k->kept[i].step != s->step)
            remove_file(k, k->kept[i].step);
    if (!rc) {
        push(k, (struct dg_kept){s->step, NAN, kind});
        n_gone = drop_old(k, gone);
        rc = write_index(k, err);
    }
    for (size_t i = 0; i < n_gone && !rc; i++)
        remove_file(k, gone[i]);
    free(gone);
    free(path);
    return rc;
}

int dg_checkpoint_dir_forget(struct dg_checkpoint_dir *k, uint64_t step, struct dg_error *err)
{
    if (k->n < 2 || k->kept[k->n - 1].step != step)
        return 0;
    k->n--;
    int rc = write_index(k, err);
    if (!rc)
        remove_file(k, step);
    return rc;
}

struct dg_kept *dg_checkpoint_dir_find(const struct dg_checkpoint_dir *k, uint64_t step)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->kept[i].step == step)
            return &k->kept[i];
    return NULL;
}

int dg_checkpoint_dir_attach(
    struct dg_checkpoint_dir *k, uint64_t step, float score, struct dg_error *err)
{
    struct dg_kept *kept = dg_checkpoint_dir_find(k, step);
    if (kept)
        kept->score = score;
    return write_index(k, err);
}

int dg_checkpoint_dir_score(
    struct dg_checkpoint_dir *k, uint64_t step, float score, struct dg_error *err)
{
    const struct dg_kept *kept = dg_checkpoint_dir_find(k, step);
    if (isnan(k->best) || score > k->best) {
        k->best = score;
        k->best_step = isnan(score) ? 0 : step;
        k->bad = 0;
    } else if (step > k->validated) {
        k->bad++;
    }
    k->validated = step > k->validated ? step : k->validated;
    if (kept && kept->kind == DG_KEPT_EXTRA && step != k->best_step)
        return write_index(k, err);
    return dg_checkpoint_dir_attach(k, step, score, err);
}

int dg_checkpoint_dir_newest(const struct dg_checkpoint_dir *k, struct dg_checkpoint **out,
    size_t *damaged, struct dg_error *err)
{
    struct dg_error first = {0};
    *damaged = 0;
    for (size_t i = k->n; i-- > 0; ++*damaged) {
        char *path = dg_checkpoint_dir_path(k, k->kept[i].step);
        int rc = dg_checkpoint_open(path, out, &first);
        free(path);
        if (!rc)
            return 0;
        if (rc != DG_EFORMAT && rc != DG_ENOTFOUND)
            return dg_error_set(err, rc, "%s", first.message);
    }
    if (first.code)
        return dg_error_set(
            err, DG_ENOTFOUND, "no checkpoint in %s is whole: %s", k->dir, first.message);
    return dg_error_set(err, DG_ENOTFOUND, "there is no checkpoint in %s", k->dir);
}

void dg_checkpoint_dir_go_on(struct dg_checkpoint_dir *k, uint64_t step)
{
    while (k->n && k->kept[k->n - 1].step > step)
        k->n--;
    if (step)
        return;
    k->best = NAN;
    k->best_step = k->bad = k->validated = 0;
}
