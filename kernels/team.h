/* Processes that train one model, each on a device of its own, add blocks up from device to device
 * (CUDA: NCCL, a library that is opened at run time). A part of a device's training table
 * (kernels/train.h); the trainer carries the key from the first rank to the others. Every rank
 * calls the same functions in the same order. One thread at a time, the one that calls the ops. */
#ifndef DG_KERNELS_TEAM_H
#define DG_KERNELS_TEAM_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_train;
struct dg_team;

enum { DG_TEAM_KEY = 128 };

struct dg_team_options {
    /* of rank 0 */
    unsigned char key[DG_TEAM_KEY];
    size_t rank, ranks;
    /* how long join() and wait() wait for the other ranks */
    double wait_s;
};

struct dg_team_ops {
    /* Can this process have the library? Its name and version, "NCCL 2.28.9", into what[size].
     * DG_ENOTFOUND, DG_EUNSUP: why not. */
    int (*find)(struct dg_train *t, char *what, size_t size, struct dg_error *err);
    int (*key)(struct dg_train *t, unsigned char key[DG_TEAM_KEY], struct dg_error *err);
    /* Meet the others. DG_ETIMEOUT: they did not come. */
    int (*join)(struct dg_train *t, const struct dg_team_options *o, struct dg_team **out,
        struct dg_error *err);
    /* x[n], a part of a block, as the ops called so far leave it, becomes its sum over the ranks:
     * the same bits on each, while the ops that follow run. They leave it alone until wait(). */
    int (*add)(struct dg_team *team, float *x, size_t n, struct dg_error *err);
    /* Until all sums are there. After an error, which stays, they are worth nothing. DG_ETIMEOUT:
     * another rank is not coming. */
    int (*wait)(struct dg_team *team, struct dg_error *err);
    /* One that failed is broken up without the others, within seconds. NULL is fine. */
    void (*leave)(struct dg_team *team);
};

#endif
