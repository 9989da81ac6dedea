/* Order of opening: listen before the models load, so that /livez answers and a port in use is
 * reported at once. Order of closing: stop workers -> stop HTTP -> free. */
#include "server/service_internal.h"

#include "base/clock.h"
#include "base/cores.h"
#include "base/log.h"
#include "server/access/auth.h"
#include "server/access/rates.h"
#include "server/api/cors.h"
#include "server/api/routes.h"
#include "server/api/status.h"
#include "server/certificate.h"
#include "server/glossaries/collections.h"
#include "server/glossaries/glossaries.h"
#include "server/glossaries/memories.h"
#include "server/http/systemd.h"
#include "server/http/tls.h"
#include "server/metrics.h"
#include "server/models/models.h"
#include "server/models/opening.h"
#include "server/models/options.h"
#include "server/models/reload.h"
#include "server/request/feeder.h"
#include "server/request/planner.h"
#include "server/schedule/answer_cache.h"
#include "server/schedule/queue.h"
#include "store/suggestions.h"
#include "server/schedule/worker.h"
#include "server/uploads/uploads.h"
#include "text/icu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* a reload occupies one for seconds, opening a bundle for less than one, batch items for
 * milliseconds */
#define SIDE_THREADS 4
#define LOW_PRIORITY 10 /* added to nice for attention weights, which no batch shares */

static void log_models(struct dg_service *s, const struct dg_models_options *models, double seconds)
{
    struct dg_served *open[DG_MODELS_MAX];
    struct dg_buffer devices;
    dg_buffer_init(&devices);
    const size_t n = dg_models_listings(s->app.models, NULL, open);
    size_t closed = 0;
    for (size_t i = 0; i < n; i++) {
        if (!open[i]) {
            closed++;
            continue;
        }
        if (i == closed) /* the first: all are on the same ones */
            dg_served_devices(open[i], &devices);
        dg_served_log(open[i]);
        dg_served_unref(open[i]);
    }
    if (closed > 0)
        dg_log(DG_LOG_INFO, "bundles open on first use closed=%zu", closed);
    dg_log(DG_LOG_INFO,
        "ready address=%s:%u models=%zu device=%s workers=%u threads=%u "
        "http_threads=%lld seconds=%.2f",
        s->app.config.host, s->port, n, devices.data && !devices.failed ? devices.data : "",
        dg_models_workers(models), models->compute_threads, (long long)s->app.config.http_threads,
        seconds);
    dg_buffer_deinit(&devices);
}

static int open_metrics(struct dg_service *s, struct dg_error *err)
{
    size_t n;
    const struct dg_route *routes = dg_routes(&n);
    s->routes = calloc(n, sizeof *s->routes);
    if (!s->routes)
        return dg_error_set(err, DG_ENOMEM, "no memory for routes");
    for (size_t i = 0; i < n; i++) {
        s->routes[i][0] = routes[i].method;
        s->routes[i][1] = routes[i].path;
        s->routes[i][2] = routes[i].dialect ? routes[i].dialect->name : "v1";
    }
    return dg_metrics_open(s->routes, n, &s->app.metrics, err);
}

static struct dg_batch_policy policy_of(const struct dg_server_config *c)
{
    struct dg_batch_policy p = dg_batch_policy_default;
    p.batching = strcmp(c->batching, "static") == 0 ? DG_BATCHING_STATIC
                 : strcmp(c->batching, "fifo") == 0 ? DG_BATCHING_FIFO
                                                    : DG_BATCHING_CONTINUOUS;
    /* Long sentences let short ones pass, but for no longer than half of the queue's bound:
     * otherwise they would wait beyond the bound in a full queue. */
    const uint64_t half = (uint64_t)c->max_queue_ms * 1000000 / 2;
    if (c->max_queue_tokens == 0 && p.patience_max_ns > half)
        p.patience_max_ns = half;
    return p;
}

static int open_workers(struct dg_service *s, uint32_t n, struct dg_error *err)
{
    struct dg_workers_options o = {.n = n,
        .queue = s->app.queue,
        .metrics = s->app.metrics,
        .nice = (int)s->app.config.worker_nice,
        .share = &s->app.share};
    dg_core_share_init(&s->app.share, s->app.config.threads > 0 ? 0 : dg_cores_available());
    return dg_workers_open(&o, &s->workers, err);
}

static void notify_ready(struct dg_service *s)
{
    char lines[96];
    const size_t n = dg_models_listings(s->app.models, NULL, NULL);
    snprintf(lines, sizeof lines, "READY=1\nSTATUS=%zu model%s on port %u", n, n == 1 ? "" : "s",
        s->port);
    dg_systemd_notify(lines);
}

/* True before the server is ready, if the process was told to stop, and later while it drains. */
static bool is_stopping(void *arg)
{
    const struct dg_service *s = arg;
    return (s->stops && s->stops()) || atomic_load(&s->app.state) == DG_APP_DRAINING;
}

static int load_memories(struct dg_service *s, struct dg_error *err)
{
    const struct dg_memories_options o = {
        .path = s->app.config.memories, .stops = is_stopping, .arg = s};
    return dg_memories_load(s->app.collections, &o, err);
}

static int open_collections(struct dg_service *s, struct dg_error *err)
{
    const struct dg_server_config *c = &s->app.config;
    if (c->collections[0] == '\0')
        return DG_OK;
    int rc = dg_collections_open(c->collections, &s->app.collections, err);
    return rc == DG_OK ? load_memories(s, err) : rc;
}

static int load_glossaries(struct dg_service *s, struct dg_error *err)
{
    const char *path = s->app.config.glossaries;
    return path[0] != '\0' ? dg_glossaries_load(s->app.glossaries, path, err) : DG_OK;
}

/* If glossaries or memories are broken, the old ones stay, as with models. */
static void reload_begins(void *arg)
{
    struct dg_error glossaries = {0}, memories = {0};
    struct dg_app *app = &((struct dg_service *)arg)->app;
    dg_systemd_reloading();
    if (load_glossaries(arg, &glossaries) != DG_OK)
        dg_log(DG_LOG_ERROR, "glossaries not reloaded message=\"%s\"", glossaries.message);
    if (app->collections)
        load_memories(arg, &memories);
    if (memories.code != DG_OK)
        dg_log(DG_LOG_ERROR, "memories not reloaded message=\"%s\"", memories.message);
    atomic_store(&app->not_reloaded[DG_PART_GLOSSARIES], glossaries.code != DG_OK);
    atomic_store(&app->not_reloaded[DG_PART_MEMORIES], memories.code != DG_OK);
}

/* Ready again in any case: with the old models if the new ones are broken. */
static void reload_ends(void *arg)
{
    notify_ready(arg);
}

/* As many threads for short texts as read and write sockets; half as many for each line of long
 * ones. */
static int open_planner(struct dg_service *s, struct dg_error *err)
{
    const struct dg_server_config *c = &s->app.config;
    const struct dg_planner_options o = {.short_threads = (uint32_t)c->http_threads,
        .long_threads = (uint32_t)(c->http_threads + 1) / 2,
        .max_seconds = (double)c->max_queue_ms / 1e3};
    s->app.budget.most = DG_BUDGET_BODIES * (size_t)c->max_body_bytes;
    return dg_planner_open(&o, &s->app.planner, err);
}

/* Opens what all parts need: case and normal forms (ICU), devices, descriptors, the origins from
 * which browsers may send requests. */
static int open_process(
    struct dg_service *s, struct dg_models_options *models, struct dg_error *err)
{
    struct dg_server_config *c = &s->app.config;
    int rc = dg_icu_open(err);
    if (rc == DG_OK)
        rc = dg_models_options_devices(c, models, err);
    if (rc == DG_OK && models->devices.list[0].note[0] != '\0')
        dg_log(DG_LOG_INFO, "device is the CPU reason=\"%s\"", models->devices.list[0].note);
    if (rc == DG_OK)
        rc = dg_service_raise_descriptors(c, err);
    if (rc == DG_OK)
        rc = dg_cors_open(c->cors_origins, &s->app.cors, err);
    return rc;
}

/* Opens metrics, keys or rates, the queue, the threads for side work and the answer cache. */
static int open_schedule(struct dg_service *s, struct dg_error *err)
{
    const struct dg_server_config *c = &s->app.config;
    struct dg_queue_options queue = {.max_tokens = (size_t)c->max_queue_tokens,
        .max_seconds = (double)c->max_queue_ms / 1e3,
        .policy = policy_of(c)};
    const struct dg_executor_options side = {.name = "side", .threads = SIDE_THREADS},
                                     low = {.name = "low",
                                         .threads = 1,
                                         .max_ready = DG_MAX_LOW_WAITING,
                                         .nice = LOW_PRIORITY},
                                     files = {.name = "files",
                                         .threads = 1,
                                         .max_ready = DG_MAX_FILES_WAITING};
    int rc = open_metrics(s, err);
    queue.metrics = s->app.metrics;
    if (rc == DG_OK && c->keys[0] != '\0')
        rc = dg_auth_open(c->keys, &s->app.auth, err);
    else if (rc == DG_OK)
        rc = dg_rates_open(c->address_requests_per_minute, &s->app.rates, err);
    if (rc == DG_OK)
        rc = dg_queue_open(&queue, &s->app.queue, err);
    if (rc == DG_OK)
        rc = dg_executor_open(&side, &s->app.executor, err);
    if (rc == DG_OK)
        rc = dg_executor_open(&low, &s->app.low, err);
    if (rc == DG_OK && c->suggestions[0] != '\0')
        rc = dg_executor_open(&files, &s->app.files, err);
    if (rc == DG_OK)
        rc = dg_answer_cache_open((size_t)c->cache_bytes, &s->app.cache, err);
    return rc;
}

/* Opens the table of models, which is still empty, and reload, feeder and planner, which use it. */
static int open_models(struct dg_service *s, struct dg_models_options *models, struct dg_error *err)
{
    struct dg_reload_options reload = {.path = s->app.config.models,
        .executor = s->app.executor,
        .arg = s,
        .begins = reload_begins,
        .ends = reload_ends};
    models->cache = s->app.cache;
    models->stops = s->stops;
    models->executor = s->app.executor;
    int rc = dg_models_open(models, &s->app.models, err);
    reload.models = s->app.models;
    if (rc == DG_OK)
        rc = dg_reload_open(&reload, &s->app.reload, err);
    if (rc == DG_OK)
        rc = dg_feeder_open(&s->app, &s->app.feeder, err);
    if (rc == DG_OK)
        rc = open_planner(s, err);
    return rc;
}

/* Opens what clients and the server's files store: glossaries, memories, suggestions, documents. */
static int open_stores(struct dg_service *s, struct dg_error *err)
{
    const struct dg_server_config *c = &s->app.config;
    int rc = dg_glossaries_open(&s->app.glossaries, err);
    if (rc == DG_OK)
        rc = load_glossaries(s, err);
    if (rc == DG_OK)
        rc = open_collections(s, err);
    if (rc == DG_OK && c->suggestions[0] != '\0')
        rc = dg_suggestions_open(c->suggestions, &s->app.suggestions, err);
    if (rc == DG_OK && c->documents[0] != '\0')
        rc = dg_uploader_open(&s->app, &s->app.uploader, err);
    return rc;
}

/* Opens sockets first, so that /livez answers while models load (not on a passed socket); workers
 * last, since there is no model to step before. */
static int open_doors(
    struct dg_service *s, const struct dg_models_options *models, struct dg_error *err)
{
    int rc = dg_status_open(&s->app, &s->app.status, err);
    if (rc == DG_OK)
        rc = dg_certificate_open(&s->app, err);
    if (rc == DG_OK)
        rc = dg_service_open_http(s, err);
    if (rc == DG_OK)
        rc = dg_models_load(s->app.models, s->app.config.models, NULL, err);
    if (rc == DG_OK)
        rc = open_workers(s, dg_models_workers(models), err);
    return rc;
}

int dg_service_open(struct dg_service *s, struct dg_error *err)
{
    struct dg_server_config *c = &s->app.config;
    struct dg_models_options models = dg_models_options_of(c);
    uint64_t t0 = dg_clock_ns();
    int rc = open_process(s, &models, err);
    if (rc == DG_OK)
        rc = open_schedule(s, err);
    if (rc == DG_OK)
        rc = open_models(s, &models, err);
    if (rc == DG_OK)
        rc = open_stores(s, err);
    if (rc == DG_OK)
        rc = open_doors(s, &models, err);
    if (rc != DG_OK)
        return rc;
    if (dg_server_config_origin(c, "pivot") != DG_FROM_DEFAULT &&
        !dg_models_has_pivot(s->app.models))
        dg_log(DG_LOG_WARN, "no model translates to or from the pivot pivot=%s", c->pivot);
    dg_status_start(s->app.status);
    atomic_store(&s->app.state, DG_APP_READY);
    if (s->app.uploader)
        dg_uploader_start(s->app.uploader);
    dg_http_release(s->http);
    notify_ready(s);
    log_models(s, &models, (double)(dg_clock_ns() - t0) / 1e9);
    return DG_OK;
}

void dg_service_apply(struct dg_service *s)
{
    const struct dg_server_config *c = &s->app.config;
    const struct dg_http_limits http = dg_service_http_limits(c);
    const double seconds = (double)c->max_queue_ms / 1e3;
    const struct dg_batch_policy policy = policy_of(c);
    dg_http_set_limits(s->http, &http);
    dg_queue_set_bound(s->app.queue, (size_t)c->max_queue_tokens, seconds, policy.patience_max_ns);
    dg_planner_set_bound(s->app.planner, seconds);
    dg_answer_cache_resize(s->app.cache, (size_t)c->cache_bytes);
    if (s->app.rates)
        dg_rates_set(s->app.rates, c->address_requests_per_minute);
}

uint32_t dg_service_close(struct dg_service *s)
{
    if (s->app.queue)
        dg_queue_stop(s->app.queue);
    uint32_t broken = dg_workers_close(s->workers);
    /* So that nobody waits for these; requests that still arrive may ask, and get no answer. */
    dg_reload_stop(s->app.reload);
    dg_opening_stop(s->app.models);
    dg_uploader_stop(s->app.uploader);
    dg_service_unbind(s);
    dg_http_close(s->http);
    dg_planner_close(s->app.planner);
    dg_executor_close(s->app.low);
    dg_executor_close(s->app.files);
    dg_executor_close(s->app.executor);
    dg_status_close(s->app.status);
    dg_uploader_close(s->app.uploader);
    dg_feeder_close(s->app.feeder);
    dg_reload_close(s->app.reload);
    dg_auth_close(s->app.auth); /* writes the usage of the last requests */
    dg_rates_close(s->app.rates);
    dg_suggestions_close(s->app.suggestions);
    dg_collections_close(s->app.collections);
    dg_glossaries_close(s->app.glossaries);
    dg_queue_close(s->app.queue);
    dg_models_close(s->app.models);
    dg_answer_cache_close(s->app.cache);
    dg_metrics_close(s->app.metrics);
    dg_cors_close(s->app.cors);
    dg_tls_close(s->app.tls);
    free(s->routes);
    return broken;
}
