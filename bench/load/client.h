/* The clients: many keep-alive connections to 127.0.0.1, driven by one thread. Open loop: each
 * request is sent when it is due, over a free connection or a new one, and its latency counts from
 * its due time, so that a stalled server is charged for all requests that come due meanwhile.
 * Closed loop: a fixed number of requests at a time, the next one after each answer. */
#ifndef DG_LOAD_CLIENT_H
#define DG_LOAD_CLIENT_H

#include "bench/load/schedule.h"

#include <sys/types.h>

struct dg_load_client_options {
    uint16_t port;
    uint32_t max_connections;
    uint32_t concurrency; /* closed loop: requests at a time; 0 = open loop */
    double seconds;       /* closed loop: send no more after this; 0 = all records */
    double grace_seconds; /* how long to wait for answers after the last request was due */
    pid_t term_pid;       /* send SIGTERM to this process ... */
    double term_seconds;  /* ... this long after the start; 0 = never */
    void *arg;
    /* Called with each 200's body, before the next request of the connection; may be NULL. */
    void (*answered)(void *arg, const struct dg_load_record *r, const char *body, size_t n);
};

struct dg_load_client_result {
    uint64_t start_ns;     /* of the monotonic clock */
    uint64_t last_send_ns; /* since the start, as in records */
    uint64_t end_ns;
    uint64_t term_ns;     /* when SIGTERM was sent; 0 = never */
    size_t started;       /* records started; all of them in open loop */
    uint32_t connections; /* maximum open at once */
    uint32_t opened;      /* in total */
};

/* Send records[n] and fill in their results. */
int dg_load_client_run(const struct dg_load_client_options *o, struct dg_load_items *items,
    struct dg_load_record *records, size_t n, struct dg_load_client_result *out,
    struct dg_error *err);

#endif
