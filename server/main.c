/* dragoman-server: settings, start, wait for a signal, stop. Order of stopping: not ready -> accept
 * no more -> drain, or fail what is left -> stop workers -> stop HTTP -> free. */
#include "base/clock.h"
#include "base/cores.h"
#include "base/log.h"
#include "server/app.h"
#include "server/access/auth.h"
#include "server/request/feeder.h"
#include "server/schedule/answer_cache.h"
#include "server/http/http.h"
#include "server/models/languages.h"
#include "server/http/listen.h"
#include "server/models/memory_plan.h"
#include "server/process.h"
#include "server/models/reload.h"
#include "server/api/dialect.h"
#include "server/api/routes.h"
#include "server/http/systemd.h"
#include "server/schedule/worker.h"
#include "server/metrics.h"
#include "server/models/models.h"
#include "server/schedule/queue.h"
#include "translate/search_fields.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MAX_TARGET 1024 /* positions of one output */
#define MOST_WORKERS 4  /* that are opened unasked: each has a cache of its own */
#define OTHER_DESCRIPTORS 256
#define LEAST_CONNECTIONS 16
#define DRAIN_POLL_NS 20000000
#define SIDE_THREADS 3  /* a reload takes seconds of one, items of batches milliseconds of one */
#define LOW_PRIORITY 10 /* of attention weights, which no batch shares: added to nice */

struct server {
    struct dg_app app;
    struct dg_http *http;
    struct dg_workers *workers;
    const char *(*routes)[2]; /* method and path of each, for the metrics */
    uint16_t port;
    bool unix_bound; /* the Unix socket's file is ours */
    /* Whether the engine moves, as of the last look. */
    bool waited;
    uint64_t steps;
    uint64_t since_ns; /* it has not moved while it had something to do */
};

#define WRONG_SETTING 2 /* exit status */

/* The exit status of a server that could not start. */
static int fail(const struct dg_error *err)
{
    fprintf(stderr, "dragoman-server: %s\n", err->message);
    return 1;
}

/* A descriptor 0, 1 or 2 that is closed would be given to the next socket, and what is meant for
 * stderr would go to a client. */
static void open_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            abort();
}

static void set_log_level(const char *name)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    for (int i = 0; i < 4; i++)
        if (strcmp(names[i], name) == 0)
            dg_log_set_level((enum dg_log_level)i);
}

static int show(const struct dg_buffer *b)
{
    if (!b->failed && b->len > 0)
        fwrite(b->data, 1, b->len, stdout);
    return b->failed || fflush(stdout) != 0 ? 1 : 0;
}

static struct dg_models_options models_options(const struct dg_server_config *c)
{
    int64_t threads = c->threads > 0 ? c->threads : dg_cores_available();
    return (struct dg_models_options){
        .workers = (uint32_t)c->workers,
        .compute_threads = (uint32_t)threads,
        .limits = {.max_rows = (uint32_t)c->batch_rows,
            .max_sentences = (uint32_t)c->batch_sentences,
            .max_target = MAX_TARGET,
            .max_beam = (uint32_t)c->max_beam},
        .aliases = c->aliases,
        .pivot = c->pivot,
    };
}

/* What is wrong with settings that could each be read: for serving, or to see whether and how that
 * would go. */
static int check_settings(const struct dg_server_config *c, struct dg_error *err)
{
    if (c->action != DG_SERVE && c->action != DG_CHECK_CONFIG && c->action != DG_SHOW_PLAN)
        return DG_OK;
    if (c->models[0] == '\0')
        return dg_error_field(
            err, DG_EINVAL, "models", "--models is needed: a bundle, or a directory of bundles");
    if (c->max_beam > c->batch_rows)
        return dg_error_field(err, DG_EINVAL, "max_beam",
            "--max-beam %lld is more than --batch-rows %lld", (long long)c->max_beam,
            (long long)c->batch_rows);
    const struct dg_device_options device = {.device = c->device, .precision = c->precision};
    int rc = dg_devices_check(&device, err);
    if (rc == DG_OK)
        rc = dg_language_aliases_check(c->aliases, err);
    return rc == DG_OK ? dg_dialects_check(c->dialects, err) : rc;
}

/* Can the API keys be read? */
static int check_keys(const struct dg_server_config *c, struct dg_error *err)
{
    struct dg_keys *keys = NULL;
    if (c->keys[0] == '\0')
        return DG_OK;
    int rc = dg_keys_open(c->keys, false, &keys, err);
    dg_keys_close(keys);
    return rc;
}

/* A GPU's batch is best not split. On a CPU several small batches side by side do more than one
 * that is split over the cores (docs/serving-bench.md), as long as the cores are theirs to
 * share. */
static uint32_t choose_workers(const struct dg_server_config *c, const struct dg_device *device)
{
    int cores = dg_cores_available();
    if (device->cuda || c->threads > 0)
        return 1;
    return (uint32_t)(cores < MOST_WORKERS ? cores : MOST_WORKERS);
}

static int choose_devices(
    const struct dg_server_config *c, struct dg_models_options *models, struct dg_error *err)
{
    const struct dg_device_options o = {.device = c->device, .precision = c->precision};
    int rc = dg_devices_choose(&o, &models->devices, err);
    if (rc == DG_OK && models->workers == 0)
        models->workers = choose_workers(c, &models->devices.list[0]);
    return rc;
}

static int check_config(const struct dg_server_config *c, struct dg_error *err)
{
    struct dg_models_options o = models_options(c);
    struct dg_models *models = NULL;
    int rc = check_keys(c, err);
    if (rc == DG_OK)
        rc = choose_devices(c, &o, err);
    if (rc == DG_OK)
        rc = dg_models_open(&o, &models, err);
    if (rc == DG_OK)
        rc = dg_models_load(models, c->models, NULL, err);
    dg_models_close(models);
    return rc;
}

/* Exit status 1 also when it does not fit: for scripts. */
static int plan(const struct dg_server_config *c)
{
    struct dg_models_options o = models_options(c);
    struct dg_buffer b;
    struct dg_error err = {0};
    bool fits = false;
    dg_buffer_init(&b);
    int rc = choose_devices(c, &o, &err);
    if (rc == DG_OK)
        rc = dg_plan_write(c, &o, &b, &fits, &err);
    int status = rc == DG_OK ? show(&b) : fail(&err);
    dg_buffer_deinit(&b);
    return status != 0 || !fits ? 1 : 0;
}

/* What is asked for instead of serving; the exit status. */
static void describe(struct dg_buffer *b)
{
    struct dg_json *all = dg_json_new_object(), *settings = dg_json_new_array(),
                   *request = dg_json_new_array();
    const struct dg_fields search = dg_search_fields(NULL, NULL), best = dg_n_best_fields(NULL),
                           sampling = dg_sampling_fields(NULL);
    dg_server_config_describe(settings);
    dg_fields_describe(&search, NULL, request);
    dg_fields_describe(&best, NULL, request);
    dg_fields_describe(&sampling, "sampling", request);
    dg_json_set_take(all, "settings", settings);
    dg_json_set_take(all, "request", request);
    if (dg_json_write(all, 2, b))
        b->failed = true;
    dg_buffer_adds(b, "\n");
    dg_json_free(all);
}

static int act(const struct dg_server_config *c)
{
    struct dg_buffer b;
    struct dg_error err = {0};
    size_t n;
    const struct dg_route *routes = dg_routes(&n);
    if (c->action == DG_SHOW_PLAN)
        return plan(c);
    dg_buffer_init(&b);
    switch (c->action) {
    case DG_SHOW_HELP: dg_server_config_help(&b); break;
    case DG_SHOW_VERSION: dg_buffer_adds(&b, "dragoman-server " DG_VERSION "\n"); break;
    case DG_SHOW_ROUTES:
        for (size_t i = 0; i < n; i++)
            dg_buffer_addf(&b, "%s %s\n", routes[i].method, routes[i].path);
        break;
    case DG_SHOW_FIELDS: describe(&b); break;
    default: dg_server_config_print(c, &b); break;
    }
    int status = show(&b);
    dg_buffer_deinit(&b);
    if (c->action == DG_CHECK_CONFIG && check_config(c, &err) != DG_OK)
        return fail(&err);
    return status;
}

/* Each connection takes a descriptor, a lingering one two for a moment; the rest is for files,
 * models and epolls. Where the default number is too much for this process, fewer do; a number that
 * somebody chose is not changed. */
static int raise_descriptor_limit(struct dg_server_config *c, struct dg_error *err)
{
    rlim_t need = (rlim_t)c->max_connections + OTHER_DESCRIPTORS;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need)
        return DG_OK;
    limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= need)
        return DG_OK;
    if (dg_server_config_origin(c, "max_connections") != DG_FROM_DEFAULT ||
        limit.rlim_cur < OTHER_DESCRIPTORS + LEAST_CONNECTIONS)
        return dg_error_field(err, DG_EINVAL, "max_connections",
            "--max-connections %lld needs %llu file descriptors, this process may have %llu "
            "(ulimit -n)",
            (long long)c->max_connections, (unsigned long long)need,
            (unsigned long long)limit.rlim_cur);
    c->max_connections = (int64_t)(limit.rlim_cur - OTHER_DESCRIPTORS);
    dg_log(DG_LOG_WARN, "fewer connections max_connections=%lld descriptors=%llu wanted=%llu",
        (long long)c->max_connections, (unsigned long long)limit.rlim_cur,
        (unsigned long long)need);
    return DG_OK;
}

static int open_http(struct server *s, struct dg_error *err)
{
    const struct dg_server_config *c = &s->app.config;
    int fds[2] = {-1, -1};
    int rc = dg_systemd_listen_fd(&fds[0], err);
    bool passed = fds[0] >= 0;
    if (rc == DG_OK && !passed)
        rc = dg_listen_open(c->host, (uint16_t)c->port, &fds[0], err);
    if (rc == DG_OK && c->unix_socket[0] != '\0')
        rc = dg_listen_open_unix(c->unix_socket, &fds[1], err);
    if (rc != DG_OK) {
        if (fds[0] >= 0)
            close(fds[0]);
        return rc;
    }
    s->unix_bound = fds[1] >= 0;
    s->port = dg_listen_port(fds[0]);
    struct dg_http_options o = {
        .threads = (uint32_t)c->http_threads,
        .max_connections = (uint32_t)c->max_connections,
        .max_connections_per_address =
            (uint32_t)(c->max_connections_per_address > 0 ? c->max_connections_per_address
                                                          : (c->max_connections + 1) / 2),
        .max_body_bytes = (size_t)c->max_body_bytes,
        .max_bodies_bytes = 64 * (size_t)c->max_body_bytes,
        .header_timeout_ms = (uint32_t)c->header_timeout_ms,
        .body_timeout_ms = (uint32_t)c->body_timeout_ms,
        .write_timeout_ms = (uint32_t)c->write_timeout_ms,
        .idle_timeout_ms = (uint32_t)c->idle_timeout_ms,
        .app = &s->app,
        .handle = dg_routes_handle,
        .refuse = dg_routes_refuse,
        .finished = dg_routes_finished,
    };
    rc = dg_http_open(fds, &o, &s->http, err);
    if (rc == DG_OK)
        dg_log(DG_LOG_INFO, "listening address=%s:%u%s", passed ? "passed" : c->host, s->port,
            passed ? " socket=passed" : "");
    return rc;
}

static void log_models(struct server *s, const struct dg_models_options *models, double seconds)
{
    struct dg_served *list[DG_MODELS_MAX];
    struct dg_buffer devices;
    dg_buffer_init(&devices);
    size_t n = dg_models_list(s->app.models, list, DG_MODELS_MAX);
    for (size_t i = 0; i < n; i++)
        dg_served_log(list[i]);
    if (n > 0)
        dg_served_devices(list[0], &devices);
    dg_log(DG_LOG_INFO,
        "ready address=%s:%u models=%zu device=%s workers=%u threads=%u "
        "http_threads=%lld seconds=%.2f",
        s->app.config.host, s->port, n, devices.data && !devices.failed ? devices.data : "",
        dg_models_workers(models), models->compute_threads, (long long)s->app.config.http_threads,
        seconds);
    dg_buffer_deinit(&devices);
    for (size_t i = 0; i < n; i++)
        dg_served_release(list[i]);
}

static int open_metrics(struct server *s, struct dg_error *err)
{
    size_t n;
    const struct dg_route *routes = dg_routes(&n);
    s->routes = calloc(n, sizeof *s->routes);
    if (!s->routes)
        return dg_error_set(err, DG_ENOMEM, "no memory for routes");
    for (size_t i = 0; i < n; i++) {
        s->routes[i][0] = routes[i].method;
        s->routes[i][1] = routes[i].path;
    }
    return dg_metrics_open(s->routes, n, &s->app.metrics, err);
}

static struct dg_batch_policy policy_of(const struct dg_server_config *c)
{
    struct dg_batch_policy p = dg_batch_policy_default;
    p.batching = strcmp(c->batching, "static") == 0 ? DG_BATCHING_STATIC
                 : strcmp(c->batching, "fifo") == 0 ? DG_BATCHING_FIFO
                                                    : DG_BATCHING_CONTINUOUS;
    return p;
}

static int open_workers(
    struct server *s, uint32_t n, const struct dg_batch_policy *policy, struct dg_error *err)
{
    struct dg_workers_options o = {.n = n,
        .queue = s->app.queue,
        .metrics = s->app.metrics,
        .policy = *policy,
        .share = &s->app.share};
    dg_core_share_init(&s->app.share, s->app.config.threads > 0 ? 0 : dg_cores_available());
    return dg_workers_open(&o, &s->workers, err);
}

static void notify_ready(struct server *s)
{
    char lines[96];
    struct dg_served *list[DG_MODELS_MAX];
    size_t n = dg_models_list(s->app.models, list, DG_MODELS_MAX);
    for (size_t i = 0; i < n; i++)
        dg_served_release(list[i]);
    snprintf(lines, sizeof lines, "READY=1\nSTATUS=%zu model%s on port %u", n, n == 1 ? "" : "s",
        s->port);
    dg_systemd_notify(lines);
}

static void reload_begins(void *arg)
{
    (void)arg;
    dg_systemd_reloading();
}

/* Ready again in any case: with the old models where the new ones are broken. */
static void reload_ends(void *arg)
{
    notify_ready(arg);
}

/* Listen first: /livez answers and a taken port is known at once, while the models load. */
static int start(struct server *s, struct dg_error *err)
{
    struct dg_server_config *c = &s->app.config;
    struct dg_models_options models = models_options(c);
    struct dg_queue_options queue = {.max_tokens = (size_t)c->max_queue_tokens,
        .max_seconds = (double)c->max_queue_ms / 1e3,
        .policy = policy_of(c)};
    struct dg_reload_options reload = {
        .path = c->models, .arg = s, .begins = reload_begins, .ends = reload_ends};
    const struct dg_executor_options side = {.threads = SIDE_THREADS},
                                     low = {.threads = 1,
                                         .max_ready = DG_MAX_LOW_WAITING,
                                         .nice = LOW_PRIORITY};
    uint64_t t0 = dg_clock_ns();
    int rc = choose_devices(c, &models, err);
    if (rc == DG_OK && models.devices.list[0].note[0] != '\0')
        dg_log(DG_LOG_INFO, "device is the CPU reason=\"%s\"", models.devices.list[0].note);
    if (rc == DG_OK)
        rc = raise_descriptor_limit(c, err);
    if (rc == DG_OK)
        rc = open_metrics(s, err);
    queue.metrics = s->app.metrics;
    if (rc == DG_OK && c->keys[0] != '\0')
        rc = dg_auth_open(c->keys, &s->app.auth, err);
    if (rc == DG_OK)
        rc = dg_queue_open(&queue, &s->app.queue, err);
    if (rc == DG_OK)
        rc = dg_executor_open(&side, &s->app.executor, err);
    if (rc == DG_OK)
        rc = dg_executor_open(&low, &s->app.low, err);
    if (rc == DG_OK && c->cache_bytes > 0)
        rc = dg_answer_cache_open((size_t)c->cache_bytes, &s->app.cache, err);
    models.cache = s->app.cache;
    if (rc == DG_OK)
        rc = dg_models_open(&models, &s->app.models, err);
    reload.models = s->app.models;
    reload.executor = s->app.executor;
    if (rc == DG_OK)
        rc = dg_reload_open(&reload, &s->app.reload, err);
    if (rc == DG_OK)
        rc = dg_feeder_open(&s->app, &s->app.feeder, err);
    if (rc == DG_OK)
        rc = open_http(s, err);
    if (rc == DG_OK)
        rc = dg_models_load(s->app.models, c->models, NULL, err);
    if (rc == DG_OK)
        rc = open_workers(s, dg_models_workers(&models), &queue.policy, err);
    if (rc != DG_OK)
        return rc;
    atomic_store(&s->app.state, DG_APP_READY);
    notify_ready(s);
    log_models(s, &models, (double)(dg_clock_ns() - t0) / 1e9);
    return DG_OK;
}

static bool is_stop(int got)
{
    return got == SIGTERM || got == SIGINT;
}

/* Is the engine moving? Work and no step for a time mean that it hangs: then the probes say so, and
 * the service manager hears nothing, and either restarts us. */
static void look_at_engine(struct server *s, uint64_t limit_ns)
{
    struct dg_queue_load load;
    uint64_t now = dg_clock_ns(),
             steps = dg_metrics_count(s->app.metrics, DG_COUNT_DECODE_STEPS, 0);
    dg_queue_load(s->app.queue, &load);
    bool waits = load.entries > 0 || dg_core_share_busy(&s->app.share) > 0;
    if (!waits || !s->waited || steps != s->steps)
        s->since_ns = now;
    bool stuck = now - s->since_ns >= limit_ns;
    if (stuck)
        dg_log(DG_LOG_ERROR, "stuck waiting=%zu steps=%llu seconds=%.1f", load.entries,
            (unsigned long long)steps, (double)(now - s->since_ns) / 1e9);
    else
        dg_systemd_notify("WATCHDOG=1");
    atomic_store(&s->app.stuck, stuck);
    s->waited = waits;
    s->steps = steps;
}

/* Until a signal says stop; which one it was. SIGHUP before the models are ready has waited. */
static int serve(struct server *s, const sigset_t *signals)
{
    /* A manager hears from us twice in time even when one word is withheld. */
    uint64_t limit = (uint64_t)s->app.config.stuck_ms * 1000000;
    uint64_t period = dg_systemd_watchdog_ns() / 3;
    if (period > 0 && period < limit)
        limit = period;
    if (period == 0 || period > limit / 3)
        period = limit / 3;
    struct timespec nap = {(time_t)(period / 1000000000), (long)(period % 1000000000)};
    for (;;) {
        int got = sigtimedwait(signals, NULL, &nap);
        if (got < 0)
            look_at_engine(s, limit);
        if (got == SIGHUP)
            dg_reload_ask(s->app.reload, NULL);
        else if (is_stop(got))
            return got;
    }
}

/* Not ready, but accepting: balancers have this time to notice before a client is refused. False: a
 * second signal came. */
static bool be_lame_duck(const struct server *s, const sigset_t *signals)
{
    uint64_t end = dg_clock_ns() + (uint64_t)s->app.config.lame_duck_ms * 1000000;
    for (uint64_t now; (now = dg_clock_ns()) < end;) {
        struct timespec rest = {
            (time_t)((end - now) / 1000000000), (long)((end - now) % 1000000000)};
        if (is_stop(sigtimedwait(signals, NULL, &rest)))
            return false;
    }
    return true;
}

/* Requests that run go on until they are answered or the time is up, or a second signal comes. */
static void drain(struct server *s, const sigset_t *signals)
{
    const struct timespec poll = {.tv_nsec = DRAIN_POLL_NS};
    atomic_store(&s->app.state, DG_APP_DRAINING);
    dg_systemd_notify("STOPPING=1");
    bool patient = be_lame_duck(s, signals);
    uint64_t drain = patient ? (uint64_t)s->app.config.drain_timeout_ms * 1000000 : 0;
    uint64_t end = dg_clock_ns() + drain;
    dg_http_drain(s->http);
    while ((!dg_http_drained(s->http) || dg_http_connections(s->http) > 0) && dg_clock_ns() < end)
        if (is_stop(sigtimedwait(signals, NULL, &poll)))
            break;
}

/* How many workers had their device fail. */
static uint32_t stop(struct server *s)
{
    if (s->app.queue)
        dg_queue_stop(s->app.queue);
    uint32_t broken = dg_workers_close(s->workers);
    /* So that nobody waits for these; requests that still come in may ask them, in vain. */
    dg_reload_stop(s->app.reload);
    dg_http_close(s->http);
    if (s->unix_bound)
        unlink(s->app.config.unix_socket);
    dg_executor_close(s->app.low);
    dg_executor_close(s->app.executor);
    dg_feeder_close(s->app.feeder);
    dg_reload_close(s->app.reload);
    dg_auth_close(s->app.auth); /* writes what the last requests used */
    dg_queue_close(s->app.queue);
    dg_models_close(s->app.models);
    dg_answer_cache_close(s->app.cache);
    dg_metrics_close(s->app.metrics);
    free(s->routes);
    return broken;
}

/* A setting that is misspelt would otherwise be missed without a word. */
static void report_unknown(void)
{
    struct dg_buffer names;
    dg_buffer_init(&names);
    dg_server_config_unknown(environ, &names);
    if (names.data && !names.failed)
        dg_log(DG_LOG_WARN, "environment variables that no setting reads: %s", names.data);
    dg_buffer_deinit(&names);
}

int main(int argc, char *argv[])
{
    static struct server s;
    struct dg_error err = {0};
    sigset_t signals;
    int got;
    open_standard_descriptors();
    if (dg_server_config_read(argc, argv, getenv, &s.app.config, &err) != DG_OK ||
        check_settings(&s.app.config, &err) != DG_OK) {
        fail(&err);
        fprintf(stderr, "try: dragoman-server --help\n");
        return WRONG_SETTING;
    }
    if (s.app.config.action != DG_SERVE)
        return act(&s.app.config);
    set_log_level(s.app.config.log_level);
    dg_log_set_format(strcmp(s.app.config.log_format, "json") == 0 ? DG_LOG_JSON : DG_LOG_LOGFMT);
    dg_process_keep_heap_small();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, SIG_IGN); /* of no meaning here, and often sent by mistake for one that has */
    signal(SIGUSR2, SIG_IGN);
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before any thread: all inherit it */
    if (dg_log_start(&err) != DG_OK)
        return fail(&err);
    report_unknown();
    if (start(&s, &err) != DG_OK) {
        stop(&s);
        dg_log_stop();
        return fail(&err);
    }
    got = serve(&s, &signals);
    dg_log(DG_LOG_INFO, "stopping signal=%s", got == SIGINT ? "INT" : "TERM");
    drain(&s, &signals);
    uint32_t broken = stop(&s);
    dg_log(DG_LOG_INFO, "stopped");
    dg_log_stop();
    return broken > 0 ? 1 : 0;
}
