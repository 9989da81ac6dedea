/* dragoman-server: settings, start, wait for a signal, stop. Order of stopping: not ready -> accept
 * no more -> drain, or fail the remaining requests -> close the service. */
#include "base/clock.h"
#include "base/log.h"
#include "server/action.h"
#include "server/api/cors.h"
#include "server/api/dialect.h"
#include "server/build.h"
#include "server/certificate.h"
#include "server/http/http.h"
#include "server/http/systemd.h"
#include "server/metrics.h"
#include "server/models/languages.h"
#include "server/models/models.h"
#include "server/models/reload.h"
#include "server/process.h"
#include "server/schedule/queue.h"
#include "server/schedule/worker.h"
#include "server/service.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DRAIN_POLL_NS 20000000

#define WRONG_SETTING 2 /* exit status */

/* Prints the error of a server that could not start; returns its exit status. A missing model is a
 * wrong setting: a restart does not help. */
static int fail(const struct dg_error *err)
{
    fprintf(stderr, "dragoman-server: %s\n", err->message);
    return strcmp(err->field, "models") == 0 ? WRONG_SETTING : 1;
}

/* If descriptor 0, 1 or 2 were closed, the next socket would get it, and output for stderr would go
 * to a client. */
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

/* Checks settings against each other, for serving and for the actions that check or plan it. */
static int check_settings(const struct dg_server_config *c, struct dg_error *err)
{
    if (c->action != DG_SERVE && c->action != DG_CHECK_CONFIG && c->action != DG_SHOW_PLAN)
        return DG_OK;
    if (c->models[0] == '\0')
        return dg_error_field(
            err, DG_EINVAL, "models", "--models is needed: a bundle, or a directory of bundles");
    if ((c->tls_certificate[0] == '\0') != (c->tls_key[0] == '\0'))
        return dg_error_field(err, DG_EINVAL, "tls_certificate",
            "--tls-certificate and --tls-key must be given together");
    if (c->memories[0] != '\0' && c->collections[0] == '\0')
        return dg_error_field(
            err, DG_EINVAL, "memories", "--memories needs --collections FILE to store them");
    if (c->batch_rows && c->max_beam > c->batch_rows)
        return dg_error_field(err, DG_EINVAL, "max_beam",
            "--max-beam %lld is more than --batch-rows %lld", (long long)c->max_beam,
            (long long)c->batch_rows);
    const struct dg_device_options device = {.device = c->device, .precision = c->precision};
    int rc = dg_devices_check(&device, err);
    if (rc == DG_OK)
        rc = dg_language_aliases_check(c->aliases, err);
    if (rc == DG_OK)
        rc = dg_cors_check(c->cors_origins, err);
    return rc == DG_OK ? dg_dialects_check(c->dialects, err) : rc;
}

static bool is_stop(int got)
{
    return got == SIGTERM || got == SIGINT;
}

/* A signal to stop that came while models load waits, blocked, for a thread that takes it. */
static bool is_told_to_stop(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
}

/* All engines together at the last check. */
struct look {
    /* they had something to do */
    bool waited;
    uint64_t steps;
    /* since when none has taken a step although there was something to do */
    uint64_t since_ns;
};

/* Checks that the engines advance. One that has work but takes no step for limit_ns hangs, and so
 * do all if sentences wait for that long and none takes a step. Then the probes fail and the
 * service manager gets no message, so that either restarts the process. */
static void look_at_engines(struct dg_service *s, struct look *last, uint64_t limit_ns)
{
    struct dg_queue_load load;
    char worker[16] = "any";
    uint32_t number;
    uint64_t now = dg_clock_ns(), steps = dg_metrics_count(s->app.metrics, DG_COUNT_DECODE_STEPS);
    uint64_t still = dg_workers_still_ns(s->workers, now, &number);
    dg_queue_load(s->app.queue, &load);
    bool waits = load.entries > 0 || dg_core_share_busy(&s->app.share) > 0;
    if (!waits || !last->waited || steps != last->steps)
        last->since_ns = now;
    if (still >= limit_ns)
        snprintf(worker, sizeof worker, "%u", number);
    else
        still = now - last->since_ns;
    bool stuck = still >= limit_ns;
    if (stuck)
        dg_log(DG_LOG_ERROR, "stuck waiting=%zu worker=%s steps=%llu seconds=%.1f", load.entries,
            worker, (unsigned long long)steps, (double)still / 1e9);
    else
        dg_systemd_notify("WATCHDOG=1");
    atomic_store(&s->app.stuck, stuck);
    last->waited = waits;
    last->steps = steps;
}

/* Returns how long an engine may take no step, and in *every_ns how often to check it: the service
 * manager gets two messages in time even if one is withheld. */
static uint64_t watch_of(const struct dg_service *s, uint64_t *every_ns)
{
    uint64_t limit = (uint64_t)s->app.config.stuck_ms * 1000000;
    uint64_t period = dg_systemd_watchdog_ns() / 3;
    if (period > 0 && period < limit)
        limit = period;
    if (period == 0 || period > limit / 3)
        period = limit / 3;
    *every_ns = period;
    return limit;
}

/* Reads the settings as this process would when it starts; a wrong one is an error. */
static int read_settings(int argc, char *argv[], struct dg_server_config *out, struct dg_error *err)
{
    int rc = dg_server_config_read(argc, argv, getenv, out, err);
    return rc == DG_OK ? check_settings(out, err) : rc;
}

/* On SIGHUP: if settings are wrong, the old ones stay in force; certificate and models are reloaded
 * in any case. */
static void read_again(struct dg_service *s, int argc, char *argv[])
{
    struct dg_server_config fresh;
    struct dg_buffer changed, kept;
    struct dg_error err = {0};
    dg_buffer_init(&changed);
    dg_buffer_init(&kept);
    const bool refused = read_settings(argc, argv, &fresh, &err) != DG_OK;
    atomic_store(&s->app.not_reloaded[DG_PART_SETTINGS], refused);
    if (refused) {
        dg_log(DG_LOG_ERROR, "settings not reloaded message=\"%s\"", err.message);
    } else {
        dg_server_config_take(&s->app.config, &fresh, &changed, &kept);
        set_log_level(s->app.config.log_level);
        dg_service_apply(s);
    }
    if (changed.data && !changed.failed)
        dg_log(DG_LOG_INFO, "settings changed now=%s", changed.data);
    if (kept.data && !kept.failed)
        dg_log(DG_LOG_WARN, "settings need a restart names=%s", kept.data);
    dg_buffer_deinit(&changed);
    dg_buffer_deinit(&kept);
    dg_certificate_reload(&s->app);
    dg_reload_ask(s->app.reload, NULL);
}

/* Waits for a signal until end_ns at most; below 0: none came. */
static int wait_until(const sigset_t *signals, uint64_t end_ns)
{
    const uint64_t now = dg_clock_ns(), rest = now < end_ns ? end_ns - now : 0;
    return sigtimedwait(
        signals, NULL, &(struct timespec){(time_t)(rest / 1000000000), (long)(rest % 1000000000)});
}

/* Serves until a signal to stop, and returns that signal. A SIGHUP from before the models were
 * ready is still pending. The engines are looked at by the clock, however many SIGHUP come. */
static int serve(struct dg_service *s, const sigset_t *signals, int argc, char *argv[])
{
    struct look last = {0};
    uint64_t every_ns, looked_ns = dg_clock_ns();
    for (;;) {
        const uint64_t limit = watch_of(s, &every_ns);
        const int got = wait_until(signals, looked_ns + every_ns);
        if (dg_clock_ns() >= looked_ns + every_ns) {
            looked_ns = dg_clock_ns();
            look_at_engines(s, &last, limit);
        }
        if (got == SIGHUP)
            read_again(s, argc, argv);
        else if (is_stop(got))
            return got;
    }
}

/* Not ready, but accepting: balancers have this time to notice before a client is refused. False: a
 * second signal came. */
static bool be_lame_duck(const struct dg_service *s, const sigset_t *signals)
{
    uint64_t end = dg_clock_ns() + (uint64_t)s->app.config.lame_duck_ms * 1000000;
    while (dg_clock_ns() < end)
        if (is_stop(wait_until(signals, end)))
            return false;
    return true;
}

/* Lets running requests finish, until the time is up or a second signal comes. */
static void drain(struct dg_service *s, const sigset_t *signals)
{
    const struct timespec poll = {.tv_nsec = DRAIN_POLL_NS};
    atomic_store(&s->app.state, DG_APP_DRAINING);
    dg_systemd_notify("STOPPING=1");
    bool patient = be_lame_duck(s, signals);
    uint64_t drain = patient ? (uint64_t)s->app.config.drain_timeout_ms * 1000000 : 0;
    uint64_t end = dg_clock_ns() + drain;
    dg_service_drain(s);
    while ((!dg_http_drained(s->http) || dg_http_connections(s->http) > 0) && dg_clock_ns() < end)
        if (is_stop(sigtimedwait(signals, NULL, &poll)))
            break;
}

/* Warns of misspelt settings, which would otherwise be ignored silently. */
static void report_unknown(void)
{
    struct dg_buffer names;
    dg_buffer_init(&names);
    dg_server_config_unknown(environ, &names);
    if (names.data && !names.failed)
        dg_log(DG_LOG_WARN, "unknown environment variables names=\"%s\"", names.data);
    dg_buffer_deinit(&names);
}

/* Ends a process that was not ready: with an error, or as it was told. */
static int give_up(struct dg_service *s, const struct dg_error *err)
{
    const bool told = err->code == DG_ECANCELED && is_told_to_stop();
    if (told) {
        dg_log(DG_LOG_INFO, "stopping before=ready");
        dg_systemd_notify("STOPPING=1");
    }
    dg_service_close(s);
    if (told)
        dg_log(DG_LOG_INFO, "stopped");
    dg_log_stop();
    return told ? 0 : fail(err);
}

int main(int argc, char *argv[])
{
    static struct dg_service s;
    struct dg_error err = {0};
    sigset_t signals;
    int got;
    open_standard_descriptors();
    if (read_settings(argc, argv, &s.app.config, &err) != DG_OK) {
        fail(&err);
        fprintf(stderr, "try: dragoman-server --help\n");
        return WRONG_SETTING;
    }
    if (s.app.config.action != DG_SERVE) {
        int status = 0;
        return dg_action_run(&s.app.config, &status, &err) == DG_OK ? status : fail(&err);
    }
    s.app.revision = dg_build_revision;
    set_log_level(s.app.config.log_level);
    dg_log_set_format(strcmp(s.app.config.log_format, "json") == 0 ? DG_LOG_JSON : DG_LOG_LOGFMT);
    dg_process_keep_heap_small();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, SIG_IGN); /* without meaning here, and often sent by mistake */
    signal(SIGUSR2, SIG_IGN);
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before any thread: all inherit it */
    if (dg_log_start(&err) != DG_OK)
        return fail(&err);
    report_unknown();
    s.stops = is_told_to_stop;
    if (dg_service_open(&s, &err) != DG_OK)
        return give_up(&s, &err);
    got = serve(&s, &signals, argc, argv);
    dg_log(DG_LOG_INFO, "stopping signal=%s", got == SIGINT ? "INT" : "TERM");
    drain(&s, &signals);
    uint32_t broken = dg_service_close(&s);
    dg_log(DG_LOG_INFO, "stopped");
    dg_log_stop();
    return broken > 0 ? 1 : 0;
}
