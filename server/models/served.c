#include "server/models/internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "kernels/device.h"
#include "server/metrics.h"
#include "server/process.h"
#include "translate/run/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SELF_TEST "This is a test."
/* far more than any sentence may take: a search that does not end is a fault */
#define SELF_TEST_STEPS 4096

static atomic_size_t alive, bytes_alive;

size_t dg_served_alive(void)
{
    return atomic_load(&alive);
}

size_t dg_served_bytes_alive(void)
{
    return atomic_load(&bytes_alive);
}

unsigned dg_served_label(struct dg_served *s, struct dg_metrics *m)
{
    unsigned label = atomic_load_explicit(&s->label, memory_order_relaxed);
    if (!m)
        return 0;
    if (label == 0) {
        label = 1 + dg_metrics_model(m, dg_bundle_name(dg_translator_bundle(s->translator)));
        atomic_store_explicit(&s->label, label, memory_order_relaxed);
    }
    return label - 1;
}

void dg_served_ref(struct dg_served *s)
{
    atomic_fetch_add(&s->refs, 1);
}

void dg_served_unref(struct dg_served *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    for (uint32_t i = 0; i < s->n_replicas; i++) {
        dg_engine_close(s->replicas[i].engine);
        dg_device_close(s->replicas[i].be);
        free(s->replicas[i].pace);
    }
    free(s->replicas);
    dg_device_close(s->aside);
    for (uint32_t i = 0; i < s->n_placed; i++)
        dg_model_close(s->placed[i].copy);
    dg_translator_close(s->translator);
    atomic_fetch_sub(&alive, 1);
    atomic_fetch_sub(&bytes_alive, s->bytes);
    for (uint32_t i = 0; i < s->n_placed; i++)
        dg_device_close(s->placed[i].be);
    free(s->placed);
    free(s);
    dg_process_shrink_heap(); /* a vocabulary's small blocks are between those of requests */
}

/* Up to this many pairs, each has a line in the log. */
enum { LOGGED_PAIRS = 64 };

/* Translates one sentence on a replica from end to end: every replica has worked once before it
 * serves. */
static int self_test(const struct dg_served *s, const struct dg_replica *r, struct dg_error *err)
{
    struct dg_translate_options options = {.search.alpha = -1, .keep_loops = true};
    struct dg_job *job = NULL;
    struct dg_answers answers;
    int rc = dg_job_encode(s->translator, SELF_TEST, strlen(SELF_TEST), &options, &job, err);
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
            rc = r->be->ops->status(r->be, err);
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

static const struct dg_model *model_of(const struct dg_served *s, uint32_t placed)
{
    const struct dg_model *copy = s->placed[placed].copy;
    return copy ? copy : dg_translator_model(s->translator);
}

/* Loads the parameters onto every device, reading the file once for each. Takes over the bundle
 * once the first device has succeeded. */
static int open_placed(const struct dg_models_options *o, struct dg_bundle *bundle,
    struct dg_served *s, struct dg_error *err)
{
    const uint32_t n = o->devices.n;
    s->placed = calloc(n, sizeof *s->placed);
    if (!s->placed)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u devices", n);
    s->n_placed = n;
    for (uint32_t i = 0; i < n; i++) {
        struct dg_placed *p = &s->placed[i];
        int rc = dg_device_open(&o->devices.list[i], &p->be, err);
        if (rc == DG_OK)
            rc = i == 0 ? dg_translator_open_take(
                              bundle, p->be, o->limits.max_target, &s->translator, err)
                        : dg_translator_copy(s->translator, p->be, &p->copy, err);
        if (rc != DG_OK)
            return rc;
    }
    return DG_OK;
}

/* Checks that all copies translate the manifest's sentence as it was translated when the bundle was
 * made. */
static int check_copies(const struct dg_served *s, struct dg_error *err)
{
    int rc = DG_OK;
    for (uint32_t i = 0; i < s->n_placed && rc == DG_OK; i++)
        rc = dg_check_run(s->translator, model_of(s, i), s->placed[i].be, err);
    return rc;
}

/* Is int8 what most of its weights are? */
static bool is_int8(const struct dg_served *s)
{
    const struct dg_bundle *b = dg_translator_bundle(s->translator);
    return strcmp(dg_weights_main_type(dg_bundle_weights(b)), "int8") == 0;
}

static int open_replicas(
    const struct dg_models_options *o, struct dg_served *s, struct dg_error *err)
{
    const uint32_t workers = dg_models_workers(o);
    s->replicas = calloc(workers, sizeof *s->replicas);
    if (!s->replicas)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u workers", workers);
    s->n_replicas = workers;
    for (uint32_t i = 0; i < s->n_replicas; i++) {
        struct dg_replica *r = &s->replicas[i];
        r->placed = i % s->n_placed;
        struct dg_device device = o->devices.list[r->placed];
        device.threads = (int)o->compute_threads;
        device.nice = o->nice;
        r->step_rows =
            o->step_rows > 0 ? o->step_rows : dg_models_step_rows(device.cuda, is_int8(s));
        int rc = dg_device_open(&device, &r->be, err);
        if (rc == DG_OK)
            rc = dg_engine_open(model_of(s, r->placed), r->be, &o->limits, &r->engine, err);
        if (rc == DG_OK)
            rc = self_test(s, r, err);
        if (rc != DG_OK)
            return rc;
    }
    return DG_OK;
}

/* Checks the manifest's version against the bytes that were read. That takes as long as everything
 * after it, so it runs in parallel on its own thread, which ends before the model that owns these
 * bytes. */
struct version_check {
    const struct dg_bundle *bundle;
    pthread_t thread;
    bool beside;
    struct dg_error err;
};

static void *check_version(void *arg)
{
    struct version_check *c = arg;
    dg_bundle_verify_version(c->bundle, &c->err);
    return NULL;
}

static void begin_version(struct version_check *c, const struct dg_bundle *bundle)
{
    c->bundle = bundle;
    dg_weights_follow(dg_bundle_weights(bundle));
    c->beside = pthread_create(&c->thread, NULL, check_version, c) == 0;
    if (!c->beside)
        check_version(c);
}

/* Waits for the check and returns its result, unless rc is an error already. */
static int end_version(struct version_check *c, int rc, struct dg_error *err)
{
    if (c->beside)
        pthread_join(c->thread, NULL);
    return rc == DG_OK && c->err.code != DG_OK
               ? dg_error_field(err, c->err.code, c->err.field, "%s", c->err.message)
               : rc;
}

static int open_parts(
    const struct dg_models_options *o, const char *dir, struct dg_served *s, struct dg_error *err)
{
    struct version_check version = {.beside = false};
    struct dg_bundle *bundle = NULL;
    int rc = dg_bundle_load(dir, &bundle, err);
    if (rc != DG_OK) {
        dg_error_prefix(err, "%s", dir);
        return rc;
    }
    begin_version(&version, bundle);
    rc = open_placed(o, bundle, s, err);
    if (rc == DG_OK)
        rc = check_copies(s, err);
    if (rc == DG_OK)
        rc = open_replicas(o, s, err);
    rc = end_version(&version, rc, err);
    if (!s->translator)
        dg_bundle_close(bundle);
    return rc;
}

static size_t file_bytes(const char *path)
{
    struct stat st;
    return path[0] && stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

/* Estimated from the sizes of its files, by measured factors. */
static size_t vocabulary_bytes(const char *spm, const char *list)
{
    return 15 * file_bytes(spm) + 25 * file_bytes(list);
}

/* The most memory that it takes: engines' caches may grow to their limits. 16-bit floats are
 * widened where kernels do not read them. */
static size_t bytes_of(const struct dg_served *s)
{
    const struct dg_bundle *b = dg_translator_bundle(s->translator);
    const size_t wide = strstr(dg_bundle_type(b), "16") ? 2 : 1;
    size_t n = dg_bundle_weights_bytes(b) * wide * s->n_placed;
    const bool joint = strcmp(dg_bundle_source_vocab(b), dg_bundle_target_vocab(b)) == 0;
    n += vocabulary_bytes(dg_bundle_source_spm(b), dg_bundle_source_vocab(b));
    if (!joint)
        n += vocabulary_bytes(dg_bundle_target_spm(b), dg_bundle_target_vocab(b));
    n += file_bytes(dg_bundle_shortlist(b));
    for (uint32_t i = 0; i < s->n_replicas; i++)
        n += dg_engine_bytes(s->replicas[i].engine);
    return n;
}

int dg_served_open(const struct dg_models_options *o, const char *dir, struct dg_served **out,
    struct dg_error *err)
{
    uint64_t start = dg_clock_ns();
    struct dg_served *s = calloc(1, sizeof *s);
    if (!s)
        return dg_error_set(err, DG_ENOMEM, "no memory for a model");
    atomic_init(&s->refs, 1);
    atomic_fetch_add(&alive, 1);
    s->cache = o->cache;
    s->device = o->devices.list[0];
    int rc = open_parts(o, dir, s, err);
    if (rc != DG_OK) {
        dg_served_unref(s);
        return rc;
    }
    s->load_seconds = (double)(dg_clock_ns() - start) / 1e9;
    s->bytes = bytes_of(s);
    atomic_fetch_add(&bytes_alive, s->bytes);
    atomic_store(&s->used_ns, dg_clock_ns());
    *out = s;
    return DG_OK;
}

void dg_served_devices(const struct dg_served *s, struct dg_buffer *out)
{
    for (uint32_t i = 0; i < s->n_placed; i++) {
        dg_buffer_adds(out, i > 0 ? "," : "");
        dg_buffer_adds(out, s->replicas[i].be->name);
    }
}

/* Warns the operator if the licence forbids commercial use. */
static void log_licence(const struct dg_bundle *b)
{
    char licence[128];
    if (!dg_bundle_is_non_commercial(b))
        return;
    snprintf(licence, sizeof licence, "%s", dg_bundle_licence(b));
    dg_error_trim_utf8(licence);
    for (char *c = licence; *c; c++)
        *c = *c == '"' ? '\'' : *c;
    dg_log(DG_LOG_WARN, "model's licence forbids commercial use name=%s licence=\"%s\"",
        dg_bundle_name(b), licence);
}

void dg_served_log(const struct dg_served *s)
{
    const struct dg_bundle *b = dg_translator_bundle(s->translator);
    const size_t n = dg_bundle_pairs(b);
    log_licence(b);
    if (n > LOGGED_PAIRS)
        dg_log(DG_LOG_INFO,
            "model name=%s pairs=%zu version=%.12s bytes=%zu read_seconds=%.4f seconds=%.3f",
            dg_bundle_name(b), n, dg_bundle_version(b), dg_weights_bytes(dg_bundle_weights(b)),
            dg_weights_load_seconds(dg_bundle_weights(b)), s->load_seconds);
    for (size_t i = 0; i < n && n <= LOGGED_PAIRS; i++) {
        const char *source, *target;
        dg_bundle_pair(b, i, &source, &target);
        dg_log(DG_LOG_INFO,
            "model name=%s pair=%s-%s version=%.12s bytes=%zu read_seconds=%.4f seconds=%.3f",
            dg_bundle_name(b), source, target, dg_bundle_version(b),
            dg_weights_bytes(dg_bundle_weights(b)), dg_weights_load_seconds(dg_bundle_weights(b)),
            s->load_seconds);
    }
}

int dg_served_aside(struct dg_served *s, struct dg_backend **out, struct dg_error *err)
{
    struct dg_device device = s->device;
    device.threads = 1;
    if (s->aside && s->aside->ops->status(s->aside, NULL) != DG_OK) {
        dg_device_close(s->aside);
        s->aside = NULL;
    }
    int rc = s->aside ? DG_OK : dg_device_open(&device, &s->aside, err);
    *out = s->aside;
    return rc;
}
