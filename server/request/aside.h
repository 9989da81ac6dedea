/* One thread beside the workers, for requests whose cost the batch cannot share (attention
 * weights). One at a time at low priority, a short line of waiting ones, none kept when it is full:
 * serving does not notice. Any thread. */
#ifndef DG_SERVER_REQUEST_ASIDE_H
#define DG_SERVER_REQUEST_ASIDE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_aside;

int dg_aside_open(uint32_t max_waiting, struct dg_aside **out, struct dg_error *err);
/* The one that runs ends, those that wait are called as stopped; none is taken from here on. NULL
 * is fine. */
void dg_aside_stop(struct dg_aside *a);
/* The same; nobody may submit any more. NULL is fine. */
void dg_aside_close(struct dg_aside *a);

/* Have work(arg, stopped) called once, on the thread; stopped: do nothing but clean up. DG_EAGAIN:
 * the line is full, DG_ECANCELED: stopped; then it is not called. */
int dg_aside_submit(
    struct dg_aside *a, void (*work)(void *arg, bool stopped), void *arg, struct dg_error *err);

#endif
