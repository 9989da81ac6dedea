#include "server/api/metrics_page.h"

#include "base/log.h"
#include "kernels/cpu/cpu.h"
#include "server/api/gauges.h"
#include "server/api/metrics_stores.h"
#include "server/http/net.h"
#include "server/http/reply.h"
#include "server/http/tls.h"
#include "server/request/feeder.h"
#include "server/schedule/answer_cache.h"
#include "server/process.h"
#include "server/models/listing.h"
#include "server/models/reload.h"
#include "server/metrics.h"
#include "server/models/models.h"
#include "server/models/opening.h"
#include "server/schedule/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_server(struct dg_gauges *g, struct dg_app *app, const struct dg_queue_load *load)
{
    const char *const build[] = {
        "version", DG_VERSION, "revision", app->revision, "isa", dg_cpu_isa(), NULL};
    const bool stuck = atomic_load(&app->stuck);
    dg_gauges_put(g, "dragoman_ready", "1 if the server is ready for requests.",
        atomic_load(&app->state) == DG_APP_READY && !stuck);
    dg_gauges_put(g, "dragoman_stuck",
        "1 if an engine has work and took no step for --stuck-after seconds.", stuck);
    dg_gauges_label(g, "dragoman_build_info",
        "Version of the program, and the CPU instruction set it uses.", 1, build);
    dg_gauges_put(g, "dragoman_queue_depth", "Sentences in the queue.", (double)load->entries);
    dg_gauges_put(g, "dragoman_queue_tokens",
        "Source tokens in the queue; equal sentences count once.", (double)load->tokens);
    dg_gauges_put(g, "dragoman_queue_seconds",
        "Estimated time to drain the interactive work in the queue.", load->interactive_seconds);
    dg_gauges_put(g, "dragoman_queue_all_seconds", "Estimated time to drain all work in the queue.",
        load->seconds);
    dg_gauges_put(g, "dragoman_text_memory_bytes",
        "Memory taken for texts: read, planned and answered, until the reply is handed over.",
        (double)atomic_load(&app->budget.taken));
    dg_gauges_put(g, "dragoman_text_memory_limit_bytes", "Limit of that memory; see --plan.",
        (double)app->budget.most);
    dg_gauges_put(g, "dragoman_http_requests_in_flight", "Requests in progress.",
        atomic_load(&app->in_flight));
    dg_gauges_put(g, "dragoman_workers_busy", "Busy workers; they share the cores.",
        dg_core_share_busy(&app->share));
    dg_gauges_count(g, "dragoman_log_lines_dropped_total",
        "Log lines dropped because writing to stderr would block or failed.",
        (double)dg_log_dropped());
    dg_gauges_put(g, "dragoman_batches_under_way", "Batch requests and documents in progress.",
        (double)dg_feeder_requests(app->feeder));
    dg_gauges_put(g, "dragoman_last_success_timestamp_seconds",
        "Time of the last answer that a model gave, such as a translation or a score; 0: none yet.",
        atomic_load(&app->last_success_s));
}

/* Most of these connections never became a request, so the request metrics do not count them. */
static void put_connections(struct dg_gauges *g, const struct dg_http_exchange *x)
{
    struct dg_net_counts c;
    dg_http_counts(x, &c);
    dg_gauges_put(g, "dragoman_connections_open", "Open connections.", (double)c.open);
    dg_gauges_count(g, "dragoman_connections_evicted_total",
        "Idle connections closed to make room for new ones.", (double)c.evicted);
    dg_gauges_count(g, "dragoman_connections_refused_total",
        "Connections refused with 503: a limit was reached and no connection was idle.",
        (double)c.refused);
    dg_gauges_count(g, "dragoman_connections_timed_out_total",
        "Connections rejected with 408 because their requests arrived too slowly.",
        (double)c.timed_out);
}

static void put_certificate(struct dg_gauges *g, struct dg_app *app)
{
    dg_gauges_put(g, "dragoman_tls_certificate_expiry_timestamp_seconds",
        "Expiry time of the TLS certificate in use; 0: no certificate.",
        app->tls ? (double)dg_tls_expires(app->tls) : 0);
}

/* A gauge by part, which stays 1 until the part is repaired and read again. */
static void put_failed_reloads(struct dg_gauges *g, struct dg_app *app, bool models)
{
    static const char *const names[DG_APP_PARTS + 1] = {
        "settings", "certificate", "glossaries", "memories", "models"};
    for (int i = 0; i <= DG_APP_PARTS; i++) {
        const char *const part[] = {"part", names[i], NULL};
        dg_gauges_label(g, "dragoman_last_reload_failed",
            "1 if the last reload of this part failed: its old state is in use.",
            i < DG_APP_PARTS ? atomic_load(&app->not_reloaded[i]) : models, part);
    }
}

static void put_reloads(struct dg_gauges *g, struct dg_app *app)
{
    static const char *const ok[] = {"outcome", "ok", NULL}, *const failed[] = {
                                                                 "outcome", "failed", NULL};
    static const char name[] = "dragoman_model_reloads_total",
                      help[] = "Model reloads; after a failed one the old models stay in service.";
    struct dg_reload_counts c;
    dg_reload_count(app->reload, &c);
    dg_gauges_label(g, name, help, (double)c.ok, ok)->counter = true;
    dg_gauges_label(g, name, help, (double)c.failed, failed)->counter = true;
    dg_gauges_put(
        g, "dragoman_model_reload_in_progress", "1 while models are reloading.", c.running);
    dg_gauges_put(g, "dragoman_model_last_reload_timestamp_seconds",
        "Time of the last successful model reload; 0: none since the start.", c.last_ok_s);
    put_failed_reloads(g, app, c.last_failed);
}

static void put_process(struct dg_gauges *g)
{
    struct dg_process p;
    dg_process_read(&p);
    dg_gauges_count(
        g, "process_cpu_seconds_total", "Total CPU time of all threads.", p.cpu_seconds);
    dg_gauges_put(g, "process_resident_memory_bytes", "Resident memory.", p.resident_bytes);
    dg_gauges_put(g, "process_virtual_memory_bytes", "Virtual memory size.", p.virtual_bytes);
    dg_gauges_put(g, "process_open_fds", "Open file descriptors.", p.open_fds);
    dg_gauges_put(g, "process_max_fds", "Maximum number of open file descriptors.", p.max_fds);
    dg_gauges_put(g, "process_start_time_seconds", "Start time of the process.", p.start_time_s);
}

static void put_engines(struct dg_gauges *g, struct dg_served *const *models, size_t n)
{
    static const char *const used_label[] = {"state", "used", NULL}, *const total_label[] = {
                                                                         "state", "total", NULL};
    static const char help[] = "Key-value cache blocks of 16 positions, all engines.";
    double used = 0, total = 0, live = 0;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t r = 0; r < models[i]->n_replicas; r++) {
            const struct dg_replica *replica = &models[i]->replicas[r];
            used += atomic_load(&replica->blocks_used);
            total += atomic_load(&replica->blocks_total);
            live += atomic_load(&replica->sentences_live);
        }
    }
    dg_gauges_label(g, "dragoman_cache_blocks", help, used, used_label);
    dg_gauges_label(g, "dragoman_cache_blocks", help, total, total_label);
    dg_gauges_put(g, "dragoman_live_sentences", "Sentences in translation.", live);
}

/* All models have the same number of replicas, and worker i uses the i-th of each. The steps are
 * the worker's own: a model's are lost when it is closed, and a counter must not fall. */
static void put_workers(
    struct dg_gauges *g, struct dg_app *app, struct dg_served *const *models, size_t n)
{
    for (uint32_t w = 0; n > 0 && w < models[0]->n_replicas; w++) {
        char number[16];
        snprintf(number, sizeof number, "%u", w);
        const char *const labels[] = {
            "worker", number, "device", models[0]->replicas[w].be->name, NULL};
        dg_gauges_label(g, "dragoman_worker_steps_total",
            "Decode steps per worker since the start.", (double)dg_metrics_steps(app->metrics, w),
            labels)
            ->counter = true;
    }
}

static void put_cache(struct dg_gauges *g, struct dg_app *app)
{
    struct dg_answer_cache_counts c;
    dg_answer_cache_count(app->cache, &c);
    dg_gauges_count(g, "dragoman_cache_hits_total",
        "Translation cache hits; a sentence decoded twice counts twice.", (double)c.hits);
    dg_gauges_count(
        g, "dragoman_cache_misses_total", "Translation cache misses.", (double)c.misses);
    dg_gauges_count(g, "dragoman_cache_evictions_total",
        "Answers evicted from the translation cache.", (double)c.evictions);
    dg_gauges_put(
        g, "dragoman_cache_entries", "Answers in the translation cache.", (double)c.entries);
    dg_gauges_put(g, "dragoman_cache_bytes", "Size of the translation cache.", (double)c.bytes);
    dg_gauges_put(g, "dragoman_cache_max_bytes", "Capacity of the translation cache; 0: no cache.",
        (double)c.max_bytes);
}

static const char *bundle_name(const struct dg_served *s)
{
    return dg_bundle_name(dg_translator_bundle(s->translator));
}

static double speed_of(const struct dg_served *s)
{
    double speed = 0;
    for (uint32_t r = 0; r < s->n_replicas; r++)
        speed += atomic_load(&s->replicas[r].cost_per_s);
    return speed;
}

static double rows_of(const struct dg_served *s)
{
    return s->replicas[0].step_rows;
}

static double seconds_of(const struct dg_served *s)
{
    return s->load_seconds;
}

static void put_openings(struct dg_gauges *g, struct dg_app *app)
{
    static const char *const ok[] = {"outcome", "ok", NULL}, *const failed[] = {
                                                                 "outcome", "failed", NULL};
    static const char name[] = "dragoman_model_opens_total",
                      help[] = "Bundles opened at start, for a reload or for a request.";
    struct dg_opening_counts c;
    dg_opening_count(app->models, &c);
    dg_gauges_label(g, name, help, (double)c.opened, ok)->counter = true;
    dg_gauges_label(g, name, help, (double)c.failed, failed)->counter = true;
    dg_gauges_count(g, "dragoman_model_closes_total", "Bundles closed to free memory for others.",
        (double)c.closed);
    dg_gauges_put(g, "dragoman_model_waiting_requests",
        "Requests and batch items that wait for a bundle to open.", (double)c.waiting);
    dg_gauges_put(g, "dragoman_model_memory_bytes", "Memory of open bundles with full caches.",
        (double)c.bytes);
    dg_gauges_put(g, "dragoman_model_memory_max_bytes",
        "Limit of the memory of open bundles (--model-memory); 0: all are open.",
        (double)c.most_bytes);
}

/* The bundles of the models directory. */
struct bundles {
    struct dg_listing *list[DG_MODELS_MAX];
    /* NULL: closed */
    struct dg_served *open[DG_MODELS_MAX];
    size_t n;
};

/* True for an exact copy of an earlier bundle, which would have the same labels. */
static bool is_copy(const struct bundles *all, size_t i)
{
    size_t k = 0;
    while (strcmp(dg_bundle_version(all->list[k]->bundle), dg_bundle_version(all->list[i]->bundle)))
        k++;
    return k < i;
}

/* Closed bundles, too: whether servers have the same ones does not depend on what is open. */
static void put_infos(struct dg_gauges *g, const struct bundles *all)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct dg_bundle *b = all->list[i]->bundle;
        const struct dg_served *open = all->open[i];
        for (uint32_t d = 0; d < (open ? open->n_placed : 1) && !is_copy(all, i); d++) {
            const char *const labels[] = {"model", dg_bundle_name(b), "version",
                dg_bundle_version(b), "type", dg_bundle_type(b), open ? "device" : NULL,
                open ? open->replicas[d].be->name : NULL, NULL};
            dg_gauges_label(g, "dragoman_model_info",
                "Served models, one sample per device; closed ones have no device.", 1, labels);
        }
    }
}

/* Open models alone. The version tells bundles of one name apart, such as quantized ones. */
static void put_of_model(struct dg_gauges *g, const char *name, const char *help,
    double (*value)(const struct dg_served *s), const struct bundles *all)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct dg_bundle *b = all->list[i]->bundle;
        const char *const labels[] = {
            "model", dg_bundle_name(b), "version", dg_bundle_version(b), NULL};
        if (all->open[i] && !is_copy(all, i))
            dg_gauges_label(g, name, help, value(all->open[i]), labels);
    }
}

static void put_models(struct dg_gauges *g, struct dg_app *app, const struct bundles *all)
{
    put_infos(g, all);
    put_openings(g, app);
    dg_gauges_put(g, "dragoman_models_open",
        "Models in memory, including replaced ones that requests still use.",
        (double)dg_served_alive());
    put_of_model(g, "dragoman_model_tokens_per_second",
        "Source tokens per second of a model's workers, as the queue counts them; 0: not measured.",
        speed_of, all);
    put_of_model(g, "dragoman_step_rows",
        "Maximum hypotheses per decode step of a worker; 0: all that are live.", rows_of, all);
    put_of_model(g, "dragoman_model_load_seconds",
        "Time to load the model, including its self-test.", seconds_of, all);
}

/* Shows the served models, idle ones with zeros, and, under their names, replaced models that
 * sentences still wait for. */
static void put_depths(struct dg_gauges *g, const struct dg_queue_depth *depths, size_t n_depths,
    struct dg_served *const *models, size_t n)
{
    for (size_t i = 0; i < n + n_depths; i++) {
        const char *name = bundle_name(i < n ? models[i] : depths[i - n].model);
        size_t waiting[DG_CLASSES] = {0};
        bool shown = false;
        for (size_t k = 0; k < i && !shown; k++)
            shown = strcmp(name, bundle_name(k < n ? models[k] : depths[k - n].model)) == 0;
        for (size_t k = 0; k < n_depths; k++)
            for (int c = 0; c < DG_CLASSES && strcmp(name, bundle_name(depths[k].model)) == 0; c++)
                waiting[c] += depths[k].entries[c];
        for (int c = 0; c < DG_CLASSES && !shown; c++) {
            const char *const labels[] = {"model", name, "class", dg_metrics_classes[c], NULL};
            dg_gauges_label(g, "dragoman_queue_sentences",
                "Sentences in the queue by model and class.", (double)waiting[c], labels);
        }
    }
}

bool dg_metrics_page_write(
    struct dg_app *app, const struct dg_http_exchange *x, struct dg_buffer *b)
{
    struct dg_queue_depth *depths = calloc(DG_MODELS_MAX, sizeof *depths);
    if (!depths)
        return false;
    struct dg_queue_load load; /* the depths add up to its entries */
    const size_t n_depths = dg_queue_depths(app->queue, &load, depths, DG_MODELS_MAX);
    struct bundles all;
    struct dg_served *models[DG_MODELS_MAX];
    size_t n = 0;
    struct dg_gauges g = {0};
    all.n = dg_models_listings(app->models, all.list, all.open);
    for (size_t i = 0; i < all.n; i++)
        if (all.open[i])
            models[n++] = all.open[i];
    for (size_t i = 0; i < n; i++)
        dg_served_label(models[i], app->metrics); /* so that unused ones show zeros */
    put_server(&g, app, &load);
    if (x)
        put_connections(&g, x);
    put_certificate(&g, app);
    dg_metrics_stores(&g, app);
    put_reloads(&g, app);
    put_engines(&g, models, n);
    put_workers(&g, app, models, n);
    put_cache(&g, app);
    put_depths(&g, depths, n_depths, models, n);
    put_models(&g, app, &all);
    put_process(&g);
    dg_metrics_write(app->metrics, g.list, g.n, b);
    free(g.list);
    for (size_t i = 0; i < all.n; i++) {
        dg_served_unref(all.open[i]);
        dg_listing_unref(all.list[i]);
    }
    for (size_t i = 0; i < n_depths; i++)
        dg_served_unref(depths[i].model);
    free(depths);
    return !g.failed && !b->failed;
}

void dg_metrics_page(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {.content_type = "text/plain; version=0.0.4; charset=utf-8"};
    struct dg_buffer b;
    dg_buffer_init(&b);
    if (dg_metrics_page_write(app, x, &b)) {
        r.status = 200;
        r.body = dg_buffer_take(&b, &r.body_len);
    } else {
        dg_reply_error(&r, 503, "overloaded", NULL, "no memory for the reply");
    }
    dg_buffer_deinit(&b);
    dg_http_reply_take(x, &r);
}
