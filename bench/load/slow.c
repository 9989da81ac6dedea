#include "bench/load/slow.h"

#include "base/clock.h"
#include "bench/load/idle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS 20000000

static const char slow_headers[] = "POST /v1/translate HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ";
static const char slow_body[] =
    "POST /v1/translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    "Content-Length: 4000\r\n\r\n{\"text\":\"";

static struct dg_load_slow_counts *counts_of(
    struct dg_load_slow *s, const struct dg_load_slow_conn *k)
{
    return &s->counts[(k - s->conns) % DG_LOAD_SLOW_KINDS];
}

/* Closes a connection and notes how long it lived. */
static double life_ends(struct dg_load_slow *s, struct dg_load_slow_conn *k)
{
    struct dg_load_slow_counts *counts = counts_of(s, k);
    double life = (double)(dg_clock_ns() - k->opened_ns) / 1e9;
    close(k->fd);
    k->fd = -1;
    if (life > counts->longest_s)
        counts->longest_s = life;
    return life;
}

static void ended_by_server(struct dg_load_slow *s, struct dg_load_slow_conn *k)
{
    struct dg_load_slow_counts *counts = counts_of(s, k);
    counts->total_s += life_ends(s, k);
    counts->ended++;
}

/* Send one byte; a new connection of the second kind starts with whole headers. */
static void drip(struct dg_load_slow *s, size_t i)
{
    struct dg_load_slow_conn *k = &s->conns[i];
    struct dg_load_slow_counts *counts = counts_of(s, k);
    const bool in_body = i % DG_LOAD_SLOW_KINDS == DG_LOAD_SLOW_BODY;
    const char *text = in_body ? slow_body : slow_headers;
    size_t len = strlen(text), n = 1;
    char trash[512];
    if (k->fd < 0) {
        if ((k->fd = dg_load_connect(s->port)) < 0) {
            counts->refused++;
            return;
        }
        k->sent = 0;
        k->opened_ns = dg_clock_ns();
        counts->opened++;
        n = in_body ? len : 1;
    }
    const char *from = k->sent < len ? text + k->sent : "x";
    ssize_t got = recv(k->fd, trash, sizeof trash, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        ended_by_server(s, k);
        return;
    }
    ssize_t put = send(k->fd, from, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0)
        k->sent += (size_t)put;
    else if (errno != EAGAIN && errno != EINTR)
        ended_by_server(s, k);
}

/* Spreads the bytes over the interval, so that they do not come in one burst. */
static void *work(void *arg)
{
    struct dg_load_slow *s = arg;
    const struct timespec tick = {.tv_nsec = TICK_NS};
    uint64_t start = dg_clock_ns();
    uint64_t dripped = 0;
    double per_s = (double)s->n / s->interval_s;
    while (!atomic_load(&s->stop)) {
        uint64_t due = (uint64_t)((double)(dg_clock_ns() - start) / 1e9 * per_s);
        for (; dripped < due && !atomic_load(&s->stop); dripped++)
            drip(s, dripped % s->n);
        nanosleep(&tick, NULL);
    }
    return NULL;
}

int dg_load_slow_open(
    struct dg_load_slow *s, uint16_t port, size_t n, double interval_s, struct dg_error *err)
{
    memset(s, 0, sizeof *s);
    if (n == 0)
        return DG_OK;
    s->port = port;
    s->interval_s = interval_s;
    if (!(s->conns = calloc(n, sizeof *s->conns)))
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu connections", n);
    s->n = n;
    for (size_t i = 0; i < n; i++)
        s->conns[i].fd = -1;
    int number = pthread_create(&s->thread, NULL, work, s);
    if (number == 0)
        return DG_OK;
    free(s->conns);
    s->n = 0;
    return dg_error_set(err, DG_EIO, "cannot start a thread: %s", strerror(number));
}

void dg_load_slow_close(struct dg_load_slow *s)
{
    if (s->n == 0)
        return;
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    for (size_t i = 0; i < s->n; i++)
        if (s->conns[i].fd >= 0)
            life_ends(s, &s->conns[i]);
    free(s->conns);
    s->conns = NULL;
    s->n = 0;
}

struct dg_json *dg_load_slow_report(const struct dg_load_slow *s, enum dg_load_slow_kind kind)
{
    const struct dg_load_slow_counts *counts = &s->counts[kind];
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "opened", (int64_t)counts->opened);
    dg_json_set_int(o, "ended_by_server", (int64_t)counts->ended);
    dg_json_set_int(o, "refused", (int64_t)counts->refused);
    dg_json_set_real(o, "longest_s", counts->longest_s);
    if (counts->ended > 0)
        dg_json_set_real(o, "mean_s", counts->total_s / (double)counts->ended);
    return o;
}
