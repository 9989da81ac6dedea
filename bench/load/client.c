/* DESIGN. Records [0, next_due) are due, [next_send, next_due) of them wait for a connection. One
 * epoll, one timerfd set to whatever comes first: the next record, a client that vanishes, the
 * signal, the end. A connection's generation grows with each request, so that timers and the stack
 * of free connections can hold stale entries. */
#include "bench/load/client.h"

#include "base/clock.h"
#include "bench/load/timers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS 256
#define READ_BYTES 65536
#define MAX_SECONDS 3600 /* of a run without an end of its own */

enum timer_what { TIMER_VANISH, TIMER_TERM, TIMER_LAST, TIMER_STOP };

enum conn_state { CONN_CLOSED, CONN_FREE, CONN_SENDING, CONN_WAITING };

struct conn {
    int fd;
    uint32_t generation;
    enum conn_state state;
    size_t record;    /* SENDING, WAITING */
    size_t sent, len; /* bytes of the request: written, to be written */
    struct dg_load_reply reply;
};

struct free_conn {
    uint32_t conn, generation;
};

struct client {
    const struct dg_load_client_options *o;
    struct dg_load_items *items;
    struct dg_load_record *records;
    size_t n, next_due, next_send, n_over;
    struct dg_load_client_result *out;
    int epoll, timer;
    struct conn *conns; /* [o->max_connections] */
    uint32_t n_conns;   /* used at least once */
    uint32_t n_open, n_busy;
    uint32_t *closed; /* stack of [n_closed] */
    size_t n_closed;
    struct free_conn *idle; /* stack of [n_idle], some stale */
    size_t n_idle, cap_idle;
    struct dg_load_timers timers;
    bool ended;   /* no more records are sent */
    bool stopped; /* no more answers are waited for */
    bool failed;  /* memory is out */
    char *bytes;  /* [READ_BYTES] */
};

static uint64_t now_of(const struct client *c)
{
    return dg_clock_ns() - c->out->start_ns;
}

static void watch(struct client *c, uint32_t i, uint32_t events, int op)
{
    struct epoll_event e = {.events = events, .data.u32 = i};
    epoll_ctl(c->epoll, op, c->conns[i].fd, &e);
}

static void conn_close(struct client *c, struct conn *k, bool reset)
{
    struct linger linger = {.l_onoff = 1};
    if (k->state == CONN_SENDING || k->state == CONN_WAITING)
        c->n_busy--;
    if (reset)
        setsockopt(k->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(k->fd);
    k->state = CONN_CLOSED;
    k->generation++;
    c->closed[c->n_closed++] = (uint32_t)(k - c->conns);
    c->n_open--;
}

static void conn_free(struct client *c, struct conn *k)
{
    c->n_busy--;
    k->state = CONN_FREE;
    k->generation++;
    if (c->n_idle == c->cap_idle) {
        size_t cap = c->cap_idle ? 2 * c->cap_idle : 256;
        struct free_conn *idle = realloc(c->idle, cap * sizeof *idle);
        if (!idle) {
            c->failed = true;
            return;
        }
        c->idle = idle;
        c->cap_idle = cap;
    }
    c->idle[c->n_idle++] = (struct free_conn){(uint32_t)(k - c->conns), k->generation};
}

static void record_over(struct client *c, size_t i, enum dg_load_outcome outcome)
{
    struct dg_load_record *r = &c->records[i];
    r->outcome = (uint8_t)outcome;
    r->done_ns = now_of(c);
    c->n_over++;
}

static void conn_lost(struct client *c, struct conn *k)
{
    if (k->state != CONN_FREE)
        record_over(c, k->record, k->sent == 0 ? DG_LOAD_UNSENT : DG_LOAD_LOST);
    conn_close(c, k, false);
}

static void conn_send(struct client *c, struct conn *k)
{
    struct dg_load_record *r = &c->records[k->record];
    const char *request = c->items->list[r->item].request;
    while (k->sent < k->len) {
        ssize_t n = send(k->fd, request + k->sent, k->len - k->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == ENOTCONN)) {
            watch(c, (uint32_t)(k - c->conns), EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
            return;
        }
        if (n < 0) {
            /* A refusal may lie in the socket already: reading it is more than being lost. */
            if (k->sent == 0)
                conn_lost(c, k);
            return;
        }
        k->sent += (size_t)n;
    }
    r->sent_ns = now_of(c);
    if (c->out->last_send_ns < r->sent_ns)
        c->out->last_send_ns = r->sent_ns;
    k->state = CONN_WAITING;
    watch(c, (uint32_t)(k - c->conns), EPOLLIN, EPOLL_CTL_MOD);
}

/* A whole reply is there. */
static void conn_answered(struct client *c, struct conn *k)
{
    struct dg_load_record *r = &c->records[k->record];
    const char *body = k->reply.in.data + k->reply.body_at;
    enum dg_load_outcome outcome = DG_LOAD_REFUSED;
    uint64_t done = now_of(c);
    r->status = (uint16_t)k->reply.status;
    memcpy(r->timing, k->reply.timing, sizeof r->timing);
    if (k->reply.status == 200)
        outcome = dg_load_item_check(&c->items->list[r->item], body, k->reply.body_len)
                      ? DG_LOAD_OK
                      : DG_LOAD_WRONG;
    if (k->reply.status == 200 && c->o->answered)
        c->o->answered(c->o->arg, r, body, k->reply.body_len);
    record_over(c, k->record, outcome);
    r->done_ns = done; /* checking it is our own time */
    if (k->reply.close || k->state == CONN_SENDING || r->vanish == DG_LOAD_HALF_CLOSE)
        conn_close(c, k, false);
    else
        conn_free(c, k);
}

static void conn_read(struct client *c, struct conn *k)
{
    bool ended = false;
    ssize_t n;
    while ((n = recv(k->fd, c->bytes, READ_BYTES, 0)) > 0 && k->state != CONN_FREE)
        dg_buffer_add(&k->reply.in, c->bytes, (size_t)n);
    ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (k->state == CONN_FREE) { /* closed, or talking without being asked */
        conn_close(c, k, false);
        return;
    }
    int got = dg_load_reply_feed(&k->reply, ended);
    k->reply.close |= ended;
    if (got > 0)
        conn_answered(c, k);
    else if (got < 0)
        conn_lost(c, k);
}

/* Half-close counts as gone too: the server drops the work and may say 408. */
static void conn_vanish(struct client *c, struct conn *k)
{
    uint8_t how = c->records[k->record].vanish;
    if (how == DG_LOAD_HALF_CLOSE && k->state == CONN_WAITING)
        shutdown(k->fd, SHUT_WR);
    record_over(c, k->record, DG_LOAD_VANISHED);
    conn_close(c, k, how == DG_LOAD_RESETS);
}

/* Connect; NULL when that fails at once. */
static struct conn *conn_open(struct client *c)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
        .sin_port = htons(c->o->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS) {
        close(fd);
        return NULL;
    }
    uint32_t i = c->n_closed > 0 ? c->closed[--c->n_closed] : c->n_conns++;
    struct conn *k = &c->conns[i];
    k->fd = fd;
    c->out->opened++;
    if (++c->n_open > c->out->connections)
        c->out->connections = c->n_open;
    watch(c, i, EPOLLIN | EPOLLOUT, EPOLL_CTL_ADD);
    return k;
}

static struct conn *conn_idle(struct client *c)
{
    while (c->n_idle > 0) {
        struct free_conn f = c->idle[--c->n_idle];
        struct conn *k = &c->conns[f.conn];
        if (k->generation == f.generation && k->state == CONN_FREE)
            return k;
    }
    return NULL;
}

/* Send the next record; false: no connection is to be had now. */
static bool start_next(struct client *c)
{
    struct dg_load_record *r = &c->records[c->next_send];
    const struct dg_load_item *item = &c->items->list[r->item];
    if (c->o->concurrency > 0 && c->n_busy >= c->o->concurrency)
        return false;
    struct conn *k = conn_idle(c);
    if (!k && c->n_open >= c->o->max_connections)
        return false;
    if (c->o->concurrency > 0)
        r->due_ns = now_of(c);
    if (!k && !(k = conn_open(c))) {
        record_over(c, c->next_send++, DG_LOAD_UNSENT);
        return true;
    }
    k->generation++;
    k->record = c->next_send++;
    k->state = CONN_SENDING;
    k->sent = 0;
    k->len = item->request_len;
    if (r->vanish == DG_LOAD_HALF_BODY)
        k->len = item->header_len + (item->request_len - item->header_len) / 2;
    dg_load_reply_reset(&k->reply);
    c->n_busy++;
    if (r->vanish != DG_LOAD_STAYS &&
        !dg_load_timers_add(&c->timers, (struct dg_load_timer){now_of(c) + r->vanish_ns,
                                            (uint32_t)(k - c->conns), k->generation, TIMER_VANISH}))
        c->failed = true;
    conn_send(c, k);
    return true;
}

static void on_timer(struct client *c, const struct dg_load_timer *t)
{
    struct conn *k = &c->conns[t->conn];
    switch ((enum timer_what)t->what) {
    case TIMER_VANISH:
        if (k->generation == t->generation &&
            (k->state == CONN_SENDING || k->state == CONN_WAITING))
            conn_vanish(c, k);
        break;
    case TIMER_TERM:
        c->out->term_ns = now_of(c);
        kill(c->o->term_pid, SIGTERM);
        break;
    case TIMER_LAST: c->ended = true; break;
    case TIMER_STOP: c->stopped = true; break;
    }
}

/* Everything that the time now makes due. */
static void advance(struct client *c)
{
    struct dg_load_timer t;
    uint64_t now = now_of(c);
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

static void arm(struct client *c)
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

static bool is_over(const struct client *c)
{
    return c->failed || c->stopped || c->n_over == c->n || (c->ended && c->n_busy == 0);
}

static int loop(struct client *c, struct dg_error *err)
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
            struct conn *k = &c->conns[events[i].data.u32];
            if (k->state == CONN_CLOSED)
                continue;
            if (k->state == CONN_SENDING && (events[i].events & EPOLLOUT))
                conn_send(c, k);
            if (k->state != CONN_CLOSED && (events[i].events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
                conn_read(c, k);
        }
        advance(c);
    }
    return c->failed ? dg_error_set(err, DG_ENOMEM, "no memory for connections") : DG_OK;
}

static bool timer_at(struct client *c, double seconds, enum timer_what what)
{
    struct dg_load_timer t = {.at_ns = (uint64_t)(seconds * 1e9), .what = what};
    return dg_load_timers_add(&c->timers, t);
}

static int open_client(struct client *c, struct dg_error *err)
{
    const struct dg_load_client_options *o = c->o;
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    c->conns = calloc(o->max_connections, sizeof *c->conns);
    c->closed = calloc(o->max_connections, sizeof *c->closed);
    c->bytes = malloc(READ_BYTES);
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

static void close_client(struct client *c)
{
    for (uint32_t i = 0; i < c->n_conns; i++)
        if (c->conns[i].state != CONN_CLOSED)
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
    struct client c = {
        .o = o, .items = items, .records = records, .n = n, .out = out, .epoll = -1, .timer = -1};
    memset(out, 0, sizeof *out);
    int rc = open_client(&c, err);
    if (rc == DG_OK) {
        out->start_ns = dg_clock_ns();
        rc = loop(&c, err);
        out->end_ns = now_of(&c);
        out->started = o->concurrency > 0 ? c.next_send : n;
        for (size_t i = c.next_send; i < out->started; i++)
            records[i].outcome = DG_LOAD_UNSENT; /* no connection was free for it till the end */
    }
    close_client(&c);
    return rc;
}
