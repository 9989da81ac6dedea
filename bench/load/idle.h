/* Keep-alive connections that send one request, stay silent through the run, and send another at
 * its end. Blocking; one thread at a time. */
#ifndef DG_LOAD_IDLE_H
#define DG_LOAD_IDLE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_load_idle {
    int *fds; /* [n] */
    size_t n;
};

/* Open n connections and GET /livez over each; DG_EIO when one is not answered. */
int dg_load_idle_open(struct dg_load_idle *idle, uint16_t port, size_t n, struct dg_error *err);
/* Ask again; returns how many still answer. */
size_t dg_load_idle_check(struct dg_load_idle *idle);
void dg_load_idle_close(struct dg_load_idle *idle); /* a zeroed one is fine */

/* A connected blocking socket with time-outs of five seconds, or -1. */
int dg_load_connect(uint16_t port);

#endif
