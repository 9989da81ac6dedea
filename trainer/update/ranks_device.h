/* Ranks on devices: which device each takes, and which route their gradients take. One thread at a
 * time; all ranks make the same calls. */
#ifndef DG_TRAINER_UPDATE_RANKS_DEVICE_H
#define DG_TRAINER_UPDATE_RANKS_DEVICE_H

#include "kernels/device.h"
#include "trainer/update/ranks.h"

/* $DRAGOMAN_RANKS */
enum dg_ranks_device_route {
    DG_RANKS_AUTO,  /* from device to device if every rank can, else through the hosts' memory */
    DG_RANKS_NCCL,  /* from device to device, or an error */
    DG_RANKS_HOST,  /* through the hosts' memory */
    DG_RANKS_SHARED /* as HOST, and ranks may share a device */
};
int dg_ranks_device_route(enum dg_ranks_device_route *out, struct dg_error *err);
/* How long a device waits for the other ranks: $DRAGOMAN_RANKS_WAIT seconds; default ten
 * minutes. */
int dg_ranks_device_wait(double *seconds, struct dg_error *err);

/* As dg_device_choose, for one of several ranks. "cuda" and "auto" mean all devices of the host;
 * the ranks of a host take these devices, or those of a list, in turn. DG_EINVAL: two ranks would
 * share a device. */
int dg_ranks_device(const struct dg_ranks *r, const struct dg_device_options *wish,
    struct dg_device *out, struct dg_error *err);

#endif
