/* Finds the bundles in a directory and serves them: at start and on a reload. */
#include "server/models/internal.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An error: it cannot be told, such as of a folder that this user may not enter. If it counted as
 * no bundle, a reload would remove it from service. */
static int look_for_bundle(const char *dir, bool *is_one, struct dg_error *err)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/manifest.json", dir);
    *is_one = stat(path, &st) == 0;
    return *is_one || errno == ENOENT || errno == ENOTDIR
               ? DG_OK
               : dg_error_set(
                     err, DG_EIO, "cannot look for a bundle in %s: %s", dir, strerror(errno));
}

/* File systems have lost+found in their root, for root alone. */
static bool is_looked_at(const char *name)
{
    return name[0] != '.' && strcmp(name, "lost+found") != 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_path(const char *dir, char *dirs[DG_MODELS_MAX], size_t *n, struct dg_error *err)
{
    dirs[*n] = strdup(dir);
    if (!dirs[*n])
        return dg_error_set(err, DG_ENOMEM, "no memory for a path");
    (*n)++;
    return DG_OK;
}

int dg_models_bundles(const char *path, char *dirs[DG_MODELS_MAX], size_t *n, struct dg_error *err)
{
    char dir[2048];
    bool is_one;
    *n = 0;
    if (look_for_bundle(path, &is_one, NULL) == DG_OK && is_one)
        return add_path(path, dirs, n, err);
    DIR *d = opendir(path);
    if (!d) {
        /* A wrong setting; other failures, such as of a network file system, may pass. */
        const bool wrong = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
        return dg_error_field(err, DG_EIO, wrong ? "models" : "",
            "cannot open the models directory %s: %s", path, strerror(errno));
    }
    size_t found = 0;
    int rc = DG_OK;
    for (const struct dirent *e = readdir(d); e && rc == DG_OK; e = readdir(d)) {
        snprintf(dir, sizeof dir, "%s/%s", path, e->d_name);
        is_one = false;
        if (is_looked_at(e->d_name))
            rc = look_for_bundle(dir, &is_one, err);
        if (is_one && ++found <= DG_MODELS_MAX)
            rc = add_path(dir, dirs, n, err);
    }
    closedir(d);
    if (rc != DG_OK)
        return rc;
    if (found > DG_MODELS_MAX)
        return dg_error_set(err, DG_ELIMIT, "%s holds %zu bundles, a server serves at most %d",
            path, found, DG_MODELS_MAX);
    if (*n == 0)
        return dg_error_field(err, DG_ENOTFOUND, "models",
            "%s holds no bundle (a directory with manifest.json)", path);
    qsort(dirs, *n, sizeof *dirs, by_name);
    return DG_OK;
}

/* True if there is room for l, as far as is known. */
static bool has_room(struct dg_models *m, const struct dg_listing *l)
{
    pthread_mutex_lock(&m->lock);
    const bool fits = dg_models_fit(m, dg_models_estimate(m, l));
    pthread_mutex_unlock(&m->lock);
    return fits;
}

/* Opens l, which no other thread knows yet, and closes it again if it does not fit. */
static int open_new(struct dg_models *m, struct dg_listing *l, struct dg_error *err)
{
    struct dg_served *s = NULL;
    int rc = dg_models_open_listed(m, l, &s, err);
    if (rc != DG_OK)
        return rc;
    pthread_mutex_lock(&m->lock);
    dg_models_is_open_take(m, l, s);
    /* a single model is served however large it is */
    const bool fits = dg_models_fit(m, 0) || dg_served_alive() == 1;
    if (!fits)
        l->open = NULL;
    pthread_mutex_unlock(&m->lock);
    if (!fits)
        dg_served_unref(s);
    return DG_OK;
}

/* *out: the served listing of the same directory, if the bundle is unchanged; NULL: there is none.
 */
static int same_as_before(struct dg_listing *const *before, size_t n, const struct dg_listing *now,
    struct dg_listing **out, struct dg_error *err)
{
    int rc = DG_OK;
    *out = NULL;
    for (size_t i = 0; i < n && rc == DG_OK && !*out; i++) {
        const struct dg_bundle *b = before[i]->bundle;
        bool same = false;
        if (strcmp(dg_bundle_dir(b), dg_bundle_dir(now->bundle)) == 0 &&
            strcmp(dg_bundle_version(b), dg_bundle_version(now->bundle)) == 0)
            rc = dg_bundle_same(b, now->bundle, &same, err);
        *out = same ? before[i] : NULL;
    }
    return rc;
}

/* Lists one bundle for the new set: the one that is already served if nothing has changed, else a
 * new one, which is opened so that every byte is checked. A server that starts opens as many as
 * have room, and checks the others when they are first needed. */
static int list_one(struct dg_models *m, const char *dir, struct dg_listing *const *before,
    size_t n, struct dg_models_loaded *what, struct dg_listing **out, struct dg_error *err)
{
    struct dg_listing *now = NULL, *same = NULL;
    int rc = dg_listing_open(dir, &now, err);
    if (rc != DG_OK)
        return rc;
    rc = same_as_before(before, n, now, &same, err);
    if (rc != DG_OK) {
        dg_listing_unref(now);
        return rc;
    }
    if (same) {
        dg_listing_ref(same);
        dg_listing_unref(now);
        what->kept++;
        *out = same;
        return DG_OK;
    }
    const bool starts = n == 0 && m->o.executor, is_first = dg_served_alive() == 0;
    if (!starts || is_first || has_room(m, now))
        rc = open_new(m, now, err);
    if (rc != DG_OK) {
        dg_listing_unref(now);
        return rc;
    }
    what->opened++;
    *out = now;
    return DG_OK;
}

static void release_all(struct dg_listing **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dg_listing_unref(list[i]);
    free(list);
}

/* Serves list from now on, and releases the previous one. */
static void exchange_take(struct dg_models *m, struct dg_listing **list, size_t n)
{
    pthread_mutex_lock(&m->lock);
    struct dg_listing **old = m->list;
    size_t n_old = m->n;
    m->list = list;
    m->n = n;
    pthread_mutex_unlock(&m->lock);
    release_all(old, n_old);
}

/* DG_ECANCELED: the server stops, so that nobody waits for more bundles. */
static int go_on(struct dg_models *m, struct dg_error *err)
{
    pthread_mutex_lock(&m->lock);
    const bool stopped = m->opening.stopped;
    pthread_mutex_unlock(&m->lock);
    if (stopped || (m->o.stops && m->o.stops()))
        return dg_error_set(err, DG_ECANCELED, "the server is stopping");
    return DG_OK;
}

/* load_lock held. */
static int load(
    struct dg_models *m, const char *path, struct dg_models_loaded *what, struct dg_error *err)
{
    char *dirs[DG_MODELS_MAX];
    struct dg_listing *before[DG_MODELS_MAX], **list = NULL;
    size_t n = 0, opened = 0, n_before = dg_models_listings(m, before, NULL);
    int rc = dg_models_bundles(path, dirs, &n, err);
    if (rc == DG_OK) {
        list = calloc(n, sizeof *list);
        if (!list)
            rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu models", n);
    }
    while (rc == DG_OK && (rc = go_on(m, err)) == DG_OK && opened < n) {
        rc = list_one(m, dirs[opened], before, n_before, what, &list[opened], err);
        if (rc == DG_OK)
            opened++;
    }
    what->removed = n_before > what->kept ? n_before - what->kept : 0;
    for (size_t i = 0; i < n_before; i++)
        dg_listing_unref(before[i]);
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
