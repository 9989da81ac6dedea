#include "server/models.h"

#include "base/clock.h"
#include "kernels/cpu/cpu.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define MAX_MODELS 256
#define MAX_POSITIONS 1024
#define SELF_TEST "This is a test."
#define SELF_TEST_STEPS                                                                            \
    4096 /* far more than any sentence may take: a search that does not end is a fault */

struct dg_models {
    struct dg_models_options o;
    pthread_mutex_t lock;
    /* guarded by lock */
    struct dg_served **list;
    size_t n;
};

void dg_served_hold(struct dg_served *s)
{
    atomic_fetch_add(&s->refs, 1);
}

void dg_served_release(struct dg_served *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    for (uint32_t i = 0; i < s->n_replicas; i++) {
        dg_engine_close(s->replicas[i].engine);
        dg_cpu_close(s->replicas[i].be);
    }
    free(s->replicas);
    dg_translator_close(s->translator);
    dg_cpu_close(s->be);
    free(s);
}

/* Translate one sentence on a replica from end to end: what is served has worked once. */
static int self_test(const struct dg_served *s, const struct dg_replica *r, struct dg_error *err)
{
    struct dg_translate_options options = {.search.alpha = -1, .keep_loops = true};
    struct dg_job *job = NULL;
    struct dg_answers answers;
    int rc = dg_job_plan(s->translator, SELF_TEST, strlen(SELF_TEST), &options, &job, err);
    for (size_t i = 0; i < (rc == DG_OK ? dg_job_sentences(job) : 0) && rc == DG_OK; i++) {
        struct dg_sentence sentence;
        const struct dg_result *result = NULL;
        dg_job_sentence(job, i, &sentence);
        rc = dg_engine_admit(r->engine, i, &sentence, err);
        if (rc == DG_EAGAIN)
            rc = dg_error_set(err, DG_ELIMIT, "the engine has no room for a short sentence");
        for (int step = 0; rc == DG_OK && !result && step < SELF_TEST_STEPS; step++) {
            dg_engine_step(r->engine);
            result = dg_engine_poll(r->engine);
        }
        if (result) {
            rc = dg_job_accept(job, i, result, err);
            dg_engine_release(r->engine, result);
        } else if (rc == DG_OK) {
            dg_engine_cancel(r->engine, i);
            rc = dg_error_set(err, DG_EINTERNAL, "the search did not end");
        }
    }
    if (rc == DG_OK)
        rc = dg_job_finish(job, &answers, err);
    dg_job_free(job);
    if (rc != DG_OK)
        dg_error_prefix(err, "self-test of %s", dg_bundle_dir(dg_translator_bundle(s->translator)));
    return rc;
}

static int open_replicas(const struct dg_models *m, struct dg_served *s, struct dg_error *err)
{
    struct dg_cpu_options cpu = {.threads = (int)m->o.compute_threads};
    s->replicas = calloc(m->o.workers, sizeof *s->replicas);
    if (!s->replicas)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u workers", m->o.workers);
    s->n_replicas = m->o.workers;
    for (uint32_t i = 0; i < s->n_replicas; i++) {
        struct dg_replica *r = &s->replicas[i];
        int rc = dg_cpu_open(&cpu, &r->be, err);
        if (rc == DG_OK)
            rc = dg_engine_open(
                dg_translator_model(s->translator), r->be, &m->o.limits, &r->engine, err);
        if (rc == DG_OK)
            rc = self_test(s, r, err);
        if (rc != DG_OK)
            return rc;
    }
    return DG_OK;
}

static int served_open(
    const struct dg_models *m, const char *dir, struct dg_served **out, struct dg_error *err)
{
    struct dg_cpu_options cpu = {.threads = 1};
    uint32_t positions =
        m->o.limits.max_target > MAX_POSITIONS ? m->o.limits.max_target : MAX_POSITIONS;
    uint64_t start = dg_clock_ns();
    struct dg_served *s = calloc(1, sizeof *s);
    if (!s)
        return dg_error_set(err, DG_ENOMEM, "no memory for a model");
    atomic_init(&s->refs, 1);
    int rc = dg_cpu_open(&cpu, &s->be, err);
    if (rc == DG_OK)
        rc = dg_translator_open(dir, s->be, positions, &s->translator, err);
    if (rc == DG_OK)
        rc = open_replicas(m, s, err);
    if (rc != DG_OK) {
        dg_served_release(s);
        return rc;
    }
    s->load_seconds = (double)(dg_clock_ns() - start) / 1e9;
    *out = s;
    return DG_OK;
}

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

/* The bundles at path, sorted, so that the same directory always gives the same choice of models.
 */
static int find_bundles(const char *path, char **dirs, size_t *n, struct dg_error *err)
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
    for (const struct dirent *e = readdir(d); e && *n < MAX_MODELS; e = readdir(d)) {
        snprintf(dir, sizeof dir, "%s/%s", path, e->d_name);
        if (e->d_name[0] == '.' || !is_bundle(dir))
            continue;
        dirs[*n] = strdup(dir);
        if (dirs[*n])
            (*n)++;
    }
    closedir(d);
    if (*n == 0)
        return dg_error_set(
            err, DG_ENOTFOUND, "%s holds no bundle (a directory with manifest.json)", path);
    qsort(dirs, *n, sizeof *dirs, by_name);
    return DG_OK;
}

int dg_models_load(struct dg_models *m, const char *path, struct dg_error *err)
{
    char *dirs[MAX_MODELS];
    size_t n = 0, opened = 0;
    struct dg_served **list = NULL;
    int rc = find_bundles(path, dirs, &n, err);
    if (rc == DG_OK) {
        list = calloc(n, sizeof *list);
        if (!list)
            rc = dg_error_set(err, DG_ENOMEM, "no memory for %zu models", n);
    }
    while (rc == DG_OK && opened < n) {
        rc = served_open(m, dirs[opened], &list[opened], err);
        if (rc == DG_OK)
            opened++;
    }
    if (rc == DG_OK) {
        pthread_mutex_lock(&m->lock);
        struct dg_served **old = m->list;
        size_t n_old = m->n;
        m->list = list;
        m->n = n;
        pthread_mutex_unlock(&m->lock);
        list = old;
        opened = n_old;
    }
    for (size_t i = 0; i < opened; i++)
        dg_served_release(list[i]);
    free(list);
    for (size_t i = 0; i < n; i++)
        free(dirs[i]);
    return rc;
}

int dg_models_open(
    const struct dg_models_options *options, struct dg_models **out, struct dg_error *err)
{
    struct dg_models *m = calloc(1, sizeof *m);
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory for the models");
    m->o = *options;
    pthread_mutex_init(&m->lock, NULL);
    *out = m;
    return DG_OK;
}

void dg_models_close(struct dg_models *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        dg_served_release(m->list[i]);
    free(m->list);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static bool find_pair(const struct dg_served *s, const char *source, const char *target,
    const char *pair[2], bool *source_known)
{
    const struct dg_bundle *b = dg_translator_bundle(s->translator);
    for (size_t i = 0; i < dg_bundle_pairs(b); i++) {
        const char *from, *to;
        dg_bundle_pair(b, i, &from, &to);
        if (strcasecmp(from, source) != 0)
            continue;
        *source_known = true;
        if (strcasecmp(to, target) != 0)
            continue;
        pair[0] = from;
        pair[1] = to;
        return true;
    }
    return false;
}

int dg_models_find(struct dg_models *m, const char *source, const char *target,
    struct dg_served **out, const char *pair[2], struct dg_error *err)
{
    bool source_known = false;
    struct dg_served *found = NULL;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->n && !found; i++)
        if (find_pair(m->list[i], source, target, pair, &source_known))
            found = m->list[i];
    if (found)
        dg_served_hold(found);
    pthread_mutex_unlock(&m->lock);
    if (found) {
        *out = found;
        return DG_OK;
    }
    if (source_known)
        return dg_error_field(err, DG_ENOTFOUND, "target",
            "no model translates from \"%.32s\" to \"%.32s\"", source, target);
    return dg_error_field(
        err, DG_ENOTFOUND, "source", "no model translates from \"%.32s\"", source);
}

size_t dg_models_list(struct dg_models *m, struct dg_served **out, size_t cap)
{
    pthread_mutex_lock(&m->lock);
    size_t n = m->n < cap ? m->n : cap;
    for (size_t i = 0; i < n; i++) {
        out[i] = m->list[i];
        dg_served_hold(out[i]);
    }
    pthread_mutex_unlock(&m->lock);
    return n;
}

const char *dg_served_type(const struct dg_served *s)
{
    return dg_weights_main_type(dg_bundle_weights(dg_translator_bundle(s->translator)));
}

static struct dg_json *describe_pair(const struct dg_served *s, size_t i)
{
    const struct dg_bundle *b = dg_translator_bundle(s->translator);
    const struct dg_config *c = dg_model_config(dg_translator_model(s->translator));
    const char *source, *target;
    char architecture[96];
    dg_bundle_pair(b, i, &source, &target);
    snprintf(architecture, sizeof architecture,
        "transformer, %u+%u layers, d_model %u, d_ff %u, %u heads", c->enc_layers, c->dec_layers,
        c->D, c->F, c->H);
    struct dg_json *o = dg_json_new_object();
    dg_json_set_string(o, "name", dg_bundle_name(b));
    dg_json_set_string(o, "version", dg_bundle_version(b));
    dg_json_set_string(o, "source", source);
    dg_json_set_string(o, "target", target);
    dg_json_set_string(o, "architecture", architecture);
    dg_json_set_int(o, "parameters", (int64_t)dg_config_parameters(c));
    dg_json_set_string(o, "type", dg_served_type(s));
    dg_json_set_string(o, "device", s->replicas[0].be->name);
    return o;
}

struct dg_json *dg_models_describe(struct dg_models *m)
{
    struct dg_served *list[MAX_MODELS];
    struct dg_json *array = dg_json_new_array();
    size_t n = dg_models_list(m, list, MAX_MODELS);
    for (size_t i = 0; i < n; i++) {
        size_t pairs = dg_bundle_pairs(dg_translator_bundle(list[i]->translator));
        for (size_t p = 0; p < pairs; p++)
            dg_json_append_take(array, describe_pair(list[i], p));
        dg_served_release(list[i]);
    }
    return array;
}
