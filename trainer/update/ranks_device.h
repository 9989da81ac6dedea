/* Ranks on devices: which one each takes, and which way their gradients are to go. One thread at a
 * time; all ranks call the same. */
#ifndef DG_TRAINER_UPDATE_RANKS_DEVICE_H
#define DG_TRAINER_UPDATE_RANKS_DEVICE_H

#include "kernels/device.h"
#include "trainer/update/ranks.h"

/* $DRAGOMAN_RANKS */
enum dg_ranks_device_route {
    DG_RANKS_AUTO,  /* from device to device where every rank can, else through the hosts' memory */
    DG_RANKS_NCCL,  /* from device to device, or an error */
    DG_RANKS_HOST,  /* through the hosts' memory */
    DG_RANKS_SHARED /* the same, and ranks may share a device */
};
int dg_ranks_device_route(enum dg_ranks_device_route *out, struct dg_error *err);
/* How long a device waits for the other ranks: $DRAGOMAN_RANKS_WAIT seconds, else ten minutes. */
int dg_ranks_device_wait(double *seconds, struct dg_error *err);

/* As dg_device_choose, for one rank of several: "cuda" and "auto" are all devices of the host, of
 * which, as of those that a list names, each rank of the host takes the next. DG_EINVAL: two ranks
 * would have one device. */
int dg_ranks_device(const struct dg_ranks *r, const struct dg_device_options *wish,
    struct dg_device *out, struct dg_error *err);

#endif
