#include "server/models/internal.h"

#include "base/clock.h"
#include "server/models/languages.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_bundle(const char *dir)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/manifest.json", dir);
    return stat(path, &st) == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int dg_models_bundles(const char *path, char *dirs[DG_MODELS_MAX], size_t *n, struct dg_error *err)
{
    char dir[2048];
    *n = 0;
    if (is_bundle(path)) {
        dirs[(*n)++] = strdup(path);
        return dirs[0] ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a path");
    }
    DIR *d = opendir(path);
    if (!d)
        return dg_error_set(
            err, DG_EIO, "cannot open the models directory %s: %s", path, strerror(errno));
    size_t found = 0;
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        snprintf(dir, sizeof dir, "%s/%s", path, e->d_name);
        if (e->d_name[0] == '.' || !is_bundle(dir) || ++found > DG_MODELS_MAX)
            continue;
        dirs[*n] = strdup(dir);
        if (!dirs[*n]) {
            closedir(d);
            return dg_error_set(err, DG_ENOMEM, "no memory for a path");
        }
        (*n)++;
    }
    closedir(d);
    if (found > DG_MODELS_MAX)
        return dg_error_set(err, DG_ELIMIT, "%s holds %zu bundles, a server serves at most %d",
            path, found, DG_MODELS_MAX);
    if (*n == 0)
        return dg_error_set(
            err, DG_ENOTFOUND, "%s holds no bundle (a directory with manifest.json)", path);
    qsort(dirs, *n, sizeof *dirs, by_name);
    return DG_OK;
}

/* The model that is served from dir and is still the same there; NULL when it has to be opened. */
static struct dg_served *same_as_before(
    struct dg_served *const *before, size_t n, const char *dir, const struct dg_bundle *now)
{
    for (size_t i = 0; i < n; i++) {
        const struct dg_bundle *b = dg_translator_bundle(before[i]->translator);
        if (strcmp(dg_bundle_dir(b), dir) == 0 &&
            strcmp(dg_bundle_version(b), dg_bundle_version(now)) == 0 && dg_bundle_same(b, now))
            return before[i];
    }
    return NULL;
}

/* One bundle for the new set: the one that is served already when nothing has changed, else opened.
 * Opening looks at every byte of the weights; a running server looks at the other files, too, and
 * whether the version is theirs: nobody waits for it, and it has something to lose. */
static int open_one(const struct dg_models *m, const char *dir, struct dg_served *const *before,
    size_t n, struct dg_models_loaded *what, struct dg_served **out, struct dg_error *err)
{
    struct dg_bundle *bundle = NULL;
    if (n > 0) {
        int rc = dg_bundle_open(dir, &bundle, err);
        if (rc != DG_OK)
            return rc;
        *out = same_as_before(before, n, dir, bundle);
        if (*out) {
            dg_served_ref(*out);
            dg_bundle_close(bundle);
            what->kept++;
            return DG_OK;
        }
    }
    int rc = dg_served_open(&m->o, dir, out, err);
    if (rc == DG_OK && bundle && (rc = dg_bundle_verify_version(bundle, err)) != DG_OK)
        dg_served_unref(*out);
    dg_bundle_close(bundle);
    if (rc == DG_OK)
        what->opened++;
    return rc;
}

static void release_all(struct dg_served **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dg_served_unref(list[i]);
    free(list);
}

/* Serve list from now on, and let go of what was served. */
static void exchange_take(struct dg_models *m, struct dg_served **list, size_t n)
{
    pthread_mutex_lock(&m->lock);
    struct dg_served **old = m->list;
    size_t n_old = m->n;
    m->list = list;
    m->n = n;
    pthread_mutex_unlock(&m->lock);
    release_all(old, n_old);
}

/* load_lock held. */
static int load(
    struct dg_models *m, const char *path, struct dg_models_loaded *what, struct dg_error *err)
{
    char *dirs[DG_MODELS_MAX];
    struct dg_served *before[DG_MODELS_MAX], **list = NULL;
    size_t n = 0, opened = 0, n_before = dg_models_list(m, before, DG_MODELS_MAX);
    int rc = dg_models_bundles(path, dirs, &n, err);
    if (rc == DG_OK) {
        list = calloc(n, sizeof *list);
        if (!list)
            rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu models", n);
    }
    while (rc == DG_OK && opened < n) {
        rc = open_one(m, dirs[opened], before, n_before, what, &list[opened], err);
        if (rc == DG_OK)
            opened++;
    }
    what->removed = n_before > what->kept ? n_before - what->kept : 0;
    for (size_t i = 0; i < n_before; i++)
        dg_served_unref(before[i]);
    if (rc == DG_OK)
        exchange_take(m, list, n);
    else
        release_all(list, opened);
    for (size_t i = 0; i < n; i++)
        free(dirs[i]);
    return rc;
}

int dg_models_load(
    struct dg_models *m, const char *path, struct dg_models_loaded *what, struct dg_error *err)
{
    struct dg_models_loaded ignored;
    uint64_t start = dg_clock_ns();
    if (!what)
        what = &ignored;
    memset(what, 0, sizeof *what);
    pthread_mutex_lock(&m->load_lock);
    int rc = load(m, path, what, err);
    pthread_mutex_unlock(&m->load_lock);
    what->seconds = (double)(dg_clock_ns() - start) / 1e9;
    return rc;
}

int dg_models_open(
    const struct dg_models_options *options, struct dg_models **out, struct dg_error *err)
{
    int rc = dg_language_aliases_check(options->aliases, err);
    if (rc != DG_OK)
        return rc;
    struct dg_models *m = calloc(1, sizeof *m);
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory for the models");
    m->o = *options;
    snprintf(m->aliases, sizeof m->aliases, "%s", options->aliases);
    snprintf(m->pivot, sizeof m->pivot, "%s", options->pivot);
    m->o.aliases = m->aliases;
    m->o.pivot = m->pivot;
    pthread_mutex_init(&m->load_lock, NULL);
    pthread_mutex_init(&m->lock, NULL);
    *out = m;
    return DG_OK;
}

void dg_models_close(struct dg_models *m)
{
    if (!m)
        return;
    release_all(m->list, m->n);
    pthread_mutex_destroy(&m->load_lock);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

size_t dg_models_list(struct dg_models *m, struct dg_served **out, size_t cap)
{
    pthread_mutex_lock(&m->lock);
    size_t n = m->n < cap ? m->n : cap;
    for (size_t i = 0; i < n; i++) {
        out[i] = m->list[i];
        dg_served_ref(out[i]);
    }
    pthread_mutex_unlock(&m->lock);
    return n;
}

static void add_language(struct dg_model_languages *s, const char *code)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->codes[i], code) == 0)
            return;
    if (s->n == DG_MODELS_MAX)
        return;
    snprintf(s->storage[s->n], sizeof s->storage[0], "%s", code);
    s->codes[s->n] = s->storage[s->n];
    s->n++;
}

void dg_models_languages(struct dg_models *m, unsigned which, struct dg_model_languages *out)
{
    out->n = 0;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n; i++) {
        const struct dg_bundle *b = dg_translator_bundle(m->list[i]->translator);
        size_t n;
        const struct dg_bundle_language *list = dg_bundle_languages(b, &n);
        for (size_t k = 0; k < n; k++)
            if (((which & DG_SOURCES) && (list[k].sides & DG_LANGUAGE_SOURCE)) ||
                ((which & DG_TARGETS) && (list[k].sides & DG_LANGUAGE_TARGET)))
                add_language(out, list[k].code);
    }
    pthread_mutex_unlock(&m->lock);
}
