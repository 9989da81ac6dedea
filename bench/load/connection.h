/* The client while it runs, and its keep-alive connections. Only client.c
 * and connection.c include it. One thread. */
#ifndef DG_LOAD_CONNECTION_H
#define DG_LOAD_CONNECTION_H

#include "base/clock.h"
#include "bench/load/client.h"
#include "bench/load/timers.h"

enum dg_load_conn_state {
    DG_LOAD_CONN_CLOSED,
    DG_LOAD_CONN_FREE,
    DG_LOAD_CONN_SENDING,
    DG_LOAD_CONN_WAITING,
    /* The client sends no more and takes what comes, until the server closes. */
    DG_LOAD_CONN_HALF_CLOSED
};

struct dg_load_conn {
    int fd;
    uint32_t generation;
    enum dg_load_conn_state state;
    /* In states SENDING and WAITING. */
    size_t record;
    /* Bytes of the request: sent so far, to be sent in total. */
    size_t sent, len;
    struct dg_load_reply reply;
};

struct dg_load_free_conn {
    uint32_t conn, generation;
};

struct dg_load_client {
    const struct dg_load_client_options *o;
    struct dg_load_items *items;
    /* [n] */
    struct dg_load_record *records;
    size_t n, next_due, next_send, n_over;
    struct dg_load_client_result *out;
    int epoll, timer;
    /* [o->max_connections]; the first n_conns have been used at least once. */
    struct dg_load_conn *conns;
    uint32_t n_conns;
    uint32_t n_open, n_busy;
    /* Stack of closed connections [n_closed]. */
    uint32_t *closed;
    size_t n_closed;
    /* Stack of free connections [n_idle], some entries stale. */
    struct dg_load_free_conn *idle;
    size_t n_idle, cap_idle;
    struct dg_load_timers timers;
    /* No more records are sent; no more answers are awaited; out of memory. */
    bool ended, stopped, failed;
    /* [DG_LOAD_READ_BYTES] */
    char *bytes;
};

enum { DG_LOAD_READ_BYTES = 65536 };

static inline uint64_t dg_load_now(const struct dg_load_client *c)
{
    return dg_clock_ns() - c->out->start_ns;
}

void dg_load_record_over(struct dg_load_client *c, size_t i, enum dg_load_outcome outcome);

/* Connect; NULL when that fails at once. */
struct dg_load_conn *dg_load_conn_open(struct dg_load_client *c);
/* An open, free connection; NULL: there is none. */
struct dg_load_conn *dg_load_conn_idle(struct dg_load_client *c);
/* Continue sending the request, as far as the socket takes it. */
void dg_load_conn_send(struct dg_load_client *c, struct dg_load_conn *k);
void dg_load_conn_read(struct dg_load_client *c, struct dg_load_conn *k);
/* Disconnect in the way that the record says. */
void dg_load_conn_vanish(struct dg_load_client *c, struct dg_load_conn *k);

#endif
