/* DESIGN. Records [0, next_due) are due; of these, [next_send, next_due) wait for a connection. One
 * epoll, and one timerfd set to the earliest of: the next record, a client that vanishes, the
 * signal, the end. A connection's generation increases with each request, so that stale entries
 * among the timers and in the stack of free connections can be recognised. */
#include "bench/load/connection.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS 256
/* Maximum length of a run without an end of its own. */
#define MAX_SECONDS 3600

enum timer_what { TIMER_VANISH, TIMER_TERM, TIMER_LAST, TIMER_STOP };

/* Send the next record; false: no connection is available now. */
static bool start_next(struct dg_load_client *c)
{
    struct dg_load_record *r = &c->records[c->next_send];
    const struct dg_load_item *item = &c->items->list[r->item];
    if (c->o->concurrency > 0 && c->n_busy >= c->o->concurrency)
        return false;
    struct dg_load_conn *k = dg_load_conn_idle(c);
    if (!k && c->n_open >= c->o->max_connections)
        return false;
    if (c->o->concurrency > 0)
        r->due_ns = dg_load_now(c);
    if (!k && !(k = dg_load_conn_open(c))) {
        dg_load_record_over(c, c->next_send++, DG_LOAD_UNSENT);
        return true;
    }
    k->generation++;
    k->record = c->next_send++;
    k->state = DG_LOAD_CONN_SENDING;
    k->sent = 0;
    k->len = item->request_len;
    if (r->vanish == DG_LOAD_HALF_BODY)
        k->len = item->header_len + (item->request_len - item->header_len) / 2;
    dg_load_reply_reset(&k->reply);
    c->n_busy++;
    if (r->vanish != DG_LOAD_STAYS &&
        !dg_load_timers_add(&c->timers, (struct dg_load_timer){dg_load_now(c) + r->vanish_ns,
                                            (uint32_t)(k - c->conns), k->generation, TIMER_VANISH}))
        c->failed = true;
    dg_load_conn_send(c, k);
    return true;
}

static void on_timer(struct dg_load_client *c, const struct dg_load_timer *t)
{
    struct dg_load_conn *k = &c->conns[t->conn];
    switch ((enum timer_what)t->what) {
    case TIMER_VANISH:
        if (k->generation == t->generation &&
            (k->state == DG_LOAD_CONN_SENDING || k->state == DG_LOAD_CONN_WAITING))
            dg_load_conn_vanish(c, k);
        break;
    case TIMER_TERM:
        c->out->term_ns = dg_load_now(c);
        kill(c->o->term_pid, SIGTERM);
        break;
    case TIMER_LAST: c->ended = true; break;
    case TIMER_STOP: c->stopped = true; break;
    }
}

/* Do everything that is due by now. */
static void advance(struct dg_load_client *c)
{
    struct dg_load_timer t;
    uint64_t now = dg_load_now(c);
    while (dg_load_timers_due(&c->timers, now, &t))
        on_timer(c, &t);
    if (c->o->concurrency > 0)
        c->next_due = c->ended ? c->next_send : c->n;
    else
        while (c->next_due < c->n && c->records[c->next_due].due_ns <= now)
            c->next_due++;
    while (c->next_send < c->next_due && start_next(c))
        continue;
}

static void arm(struct dg_load_client *c)
{
    uint64_t at = UINT64_MAX;
    if (c->timers.n > 0)
        at = c->timers.heap[0].at_ns;
    if (c->o->concurrency == 0 && c->next_due < c->n && c->records[c->next_due].due_ns < at)
        at = c->records[c->next_due].due_ns;
    at += at == UINT64_MAX ? 0 : c->out->start_ns;
    struct itimerspec when = {0};
    if (at != UINT64_MAX) {
        when.it_value.tv_sec = (time_t)(at / 1000000000u);
        when.it_value.tv_nsec = (long)(at % 1000000000u);
    }
    timerfd_settime(c->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static bool is_over(const struct dg_load_client *c)
{
    return c->failed || c->stopped || c->n_over == c->n || (c->ended && c->n_busy == 0);
}

static int loop(struct dg_load_client *c, struct dg_error *err)
{
    struct epoll_event events[EVENTS];
    advance(c);
    while (!is_over(c)) {
        arm(c);
        int n = epoll_wait(c->epoll, events, EVENTS, -1);
        if (n < 0 && errno != EINTR)
            return dg_error_set(err, DG_EIO, "epoll: %s", strerror(errno));
        for (int i = 0; i < n; i++) {
            uint64_t expired;
            if (events[i].data.u32 == UINT32_MAX) {
                if (read(c->timer, &expired, sizeof expired) < 0 && errno != EAGAIN)
                    return dg_error_set(err, DG_EIO, "timerfd: %s", strerror(errno));
                continue;
            }
            struct dg_load_conn *k = &c->conns[events[i].data.u32];
            if (k->state == DG_LOAD_CONN_CLOSED)
                continue;
            if (k->state == DG_LOAD_CONN_SENDING && (events[i].events & EPOLLOUT))
                dg_load_conn_send(c, k);
            if (k->state != DG_LOAD_CONN_CLOSED &&
                (events[i].events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
                dg_load_conn_read(c, k);
        }
        advance(c);
    }
    return c->failed ? dg_error_set(err, DG_ENOMEM, "no memory for connections") : DG_OK;
}

static bool timer_at(struct dg_load_client *c, double seconds, enum timer_what what)
{
    struct dg_load_timer t = {.at_ns = (uint64_t)(seconds * 1e9), .what = what};
    return dg_load_timers_add(&c->timers, t);
}

static int open_client(struct dg_load_client *c, struct dg_error *err)
{
    const struct dg_load_client_options *o = c->o;
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    c->conns = calloc(o->max_connections, sizeof *c->conns);
    c->closed = calloc(o->max_connections, sizeof *c->closed);
    c->bytes = malloc(DG_LOAD_READ_BYTES);
    if (c->epoll < 0 || c->timer < 0)
        return dg_error_set(err, DG_EIO, "epoll, timerfd: %s", strerror(errno));
    if (!c->conns || !c->closed || !c->bytes)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u connections", o->max_connections);
    for (uint32_t i = 0; i < o->max_connections; i++)
        dg_load_reply_init(&c->conns[i].reply);
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
    epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->timer, &e);
    double last = o->concurrency > 0 ? o->seconds : (double)c->records[c->n - 1].due_ns / 1e9;
    bool ok = timer_at(c, last > 0 ? last + o->grace_seconds : MAX_SECONDS, TIMER_STOP);
    if (o->concurrency > 0 && o->seconds > 0)
        ok = timer_at(c, o->seconds, TIMER_LAST) && ok;
    if (o->term_seconds > 0)
        ok = timer_at(c, o->term_seconds, TIMER_TERM) && ok;
    return ok ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for timers");
}

static void close_client(struct dg_load_client *c)
{
    for (uint32_t i = 0; i < c->n_conns; i++)
        if (c->conns[i].state != DG_LOAD_CONN_CLOSED)
            close(c->conns[i].fd);
    for (uint32_t i = 0; c->conns && i < c->o->max_connections; i++)
        dg_load_reply_deinit(&c->conns[i].reply);
    if (c->epoll >= 0)
        close(c->epoll);
    if (c->timer >= 0)
        close(c->timer);
    dg_load_timers_deinit(&c->timers);
    free(c->conns);
    free(c->closed);
    free(c->idle);
    free(c->bytes);
}

int dg_load_client_run(const struct dg_load_client_options *o, struct dg_load_items *items,
    struct dg_load_record *records, size_t n, struct dg_load_client_result *out,
    struct dg_error *err)
{
    struct dg_load_client c = {
        .o = o, .items = items, .records = records, .n = n, .out = out, .epoll = -1, .timer = -1};
    memset(out, 0, sizeof *out);
    int rc = open_client(&c, err);
    if (rc == DG_OK) {
        out->start_ns = dg_clock_ns();
        rc = loop(&c, err);
        out->end_ns = dg_load_now(&c);
        out->started = o->concurrency > 0 ? c.next_send : n;
        for (size_t i = c.next_send; i < out->started; i++)
            records[i].outcome = DG_LOAD_UNSENT; /* no connection became free for it */
    }
    close_client(&c);
    return rc;
}
