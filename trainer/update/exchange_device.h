/* The exchange of gradients between ranks that train on devices. If every rank has NCCL, sums go
 * from device to device: finished gradients are passed to the device's team at once, so that they
 * are added during backward. Otherwise, with a warning in the log line, they go through the host's
 * memory and the ranks' own sum after the pass. One thread at a time: the one that drives the
 * device. Only exchange.c includes this. */
#ifndef DG_TRAINER_UPDATE_EXCHANGE_DEVICE_H
#define DG_TRAINER_UPDATE_EXCHANGE_DEVICE_H

#include "trainer/update/ranks.h"
#include "trainer/update/grad_order.h"
#include "trainer/update/crew.h"

struct dg_exchange_device;

/* All arguments are borrowed. */
int dg_exchange_device_open(struct dg_worker *w, const struct dg_ranks *ranks,
    const struct dg_grad_order *order, struct dg_exchange_device **out, struct dg_error *err);
void dg_exchange_device_close(struct dg_exchange_device *x); /* NULL is fine */
/* "NCCL 2.28.9", or the route through the host and the reason for it. */
const char *dg_exchange_device_what(const struct dg_exchange_device *x);

void dg_exchange_device_begin(struct dg_exchange_device *x);
/* Backward has issued all ops on the first `groups` groups: pass them to the team. */
void dg_exchange_device_reached(struct dg_exchange_device *x, size_t groups);
/* Wait until the worker's gradients are the sum over all ranks. */
int dg_exchange_device_finish(struct dg_exchange_device *x, struct dg_error *err);

#endif
