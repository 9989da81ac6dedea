/* Sums of blocks over the processes (ranks) that train one model, each on a device of its own,
 * directly from device to device (CUDA: NCCL, a library that is opened at run time). Part of a
 * device's training table (kernels/train.h); the trainer passes the key from rank 0 to the others.
 * Every rank calls the same functions in the same order. One thread at a time, the one that calls
 * the ops. */
#ifndef DG_KERNELS_TEAM_H
#define DG_KERNELS_TEAM_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_train;
struct dg_team;

enum { DG_TEAM_KEY = 128 };

struct dg_team_options {
    /* the key of rank 0 */
    unsigned char key[DG_TEAM_KEY];
    size_t rank, ranks;
    /* how long join() and wait() wait for the other ranks */
    double wait_s;
};

struct dg_team_ops {
    /* Checks that the library is available to this process, and writes its name and version, "NCCL
     * 2.28.9", to what[size]. DG_ENOTFOUND, DG_EUNSUP: why it is not. */
    int (*find)(struct dg_train *t, char *what, size_t size, struct dg_error *err);
    int (*key)(struct dg_train *t, unsigned char key[DG_TEAM_KEY], struct dg_error *err);
    /* Joins the other ranks. DG_ETIMEOUT: they did not come. */
    int (*join)(struct dg_train *t, const struct dg_team_options *o, struct dg_team **out,
        struct dg_error *err);
    /* Replaces x[n], part of a block, as the ops called so far leave it, with its sum over the
     * ranks: the same bits on each. The sum runs concurrently with later ops, which must not touch
     * x until wait(). */
    int (*add)(struct dg_team *team, float *x, size_t n, struct dg_error *err);
    /* Waits until all sums are complete. An error is permanent and makes the sums invalid.
     * DG_ETIMEOUT: another rank does not respond. */
    int (*wait)(struct dg_team *team, struct dg_error *err);
    /* Leaves the team and frees it. A failed team is broken up without the others, within seconds.
     * NULL is fine. */
    void (*leave)(struct dg_team *team);
};

#endif
