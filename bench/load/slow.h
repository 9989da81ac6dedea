/* Slow-loris clients: each sends a request one byte at a time, half of them within the headers,
 * half within the body. A server must end them by its own deadlines; a client that was ended
 * reconnects. Runs its own thread between open and close. */
#ifndef DG_LOAD_SLOW_H
#define DG_LOAD_SLOW_H

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    size_t opened, ended, refused;
    double longest_s, total_s; /* lifetimes of the ended connections */
};

int dg_load_slow_open(
    struct dg_load_slow *s, uint16_t port, size_t n, double interval_s, struct dg_error *err);
/* End the thread and the connections; counts stay readable. A zeroed one is fine. */
void dg_load_slow_close(struct dg_load_slow *s);

#endif
