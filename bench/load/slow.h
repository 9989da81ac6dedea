/* Slow-loris clients: each sends a request one byte at a time, half of them within the headers,
 * half within the body. A server must end them by its own deadlines; a client that was ended
 * reconnects. Runs its own thread between open and close. */
#ifndef DG_LOAD_SLOW_H
#define DG_LOAD_SLOW_H

#include "base/error.h"
#include "base/json.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a client is slow: even connections within the headers, odd ones within the body. */
enum dg_load_slow_kind { DG_LOAD_SLOW_HEADERS, DG_LOAD_SLOW_BODY, DG_LOAD_SLOW_KINDS };

struct dg_load_slow_counts {
    size_t opened, ended, refused;
    /* lifetimes: of the ended connections together; of all, those open at the end, too */
    double total_s, longest_s;
};

struct dg_load_slow_conn {
    int fd; /* -1: not connected */
    size_t sent;
    uint64_t opened_ns;
};

struct dg_load_slow {
    uint16_t port;
    double interval_s;               /* between two bytes */
    struct dg_load_slow_conn *conns; /* [n] */
    size_t n;
    pthread_t thread;
    atomic_bool stop;
    /* used by the thread alone until close */
    struct dg_load_slow_counts counts[DG_LOAD_SLOW_KINDS];
};

int dg_load_slow_open(
    struct dg_load_slow *s, uint16_t port, size_t n, double interval_s, struct dg_error *err);
/* The counts of one kind, after close. */
struct dg_json *dg_load_slow_report(const struct dg_load_slow *s, enum dg_load_slow_kind kind);
/* End the thread and the connections; counts stay readable. A zeroed one is fine. */
void dg_load_slow_close(struct dg_load_slow *s);

#endif
