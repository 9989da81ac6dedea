/* Processes that train one model together, each on its share of every batch, as the paper's eight
 * GPUs (section 5.2). Their interface is one small table, filled by a plugin (trainer/update/mpi/)
 * that is loaded on demand, so that the trainer itself needs no MPI. One thread at a time. */
#ifndef DG_TRAINER_UPDATE_RANKS_H
#define DG_TRAINER_UPDATE_RANKS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_ranks {
    void *ctx;
    size_t rank, ranks;
    /* "Open MPI v4.1.4", for the log */
    const char *what;
    /* Replace x[n] by its sum over the ranks, with the same bits on each. All ranks call it with
     * the same n. */
    int (*sum)(void *ctx, float *x, size_t n, struct dg_error *err);
    int (*sum_doubles)(void *ctx, double *x, size_t n, struct dg_error *err);
    /* Wait for all ranks by sleeping, since one of them may be busy for minutes. */
    int (*meet)(void *ctx, struct dg_error *err);
    /* call when all ranks have finished */
    void (*close)(void *ctx);
    /* end all ranks now; does not return */
    void (*abort)(void *ctx, int code);
};

/* Number of ranks according to the launcher (mpirun, srun); 1 when there is no launcher. */
size_t dg_ranks_launched(void);

/* Load the plugin and meet the others. DG_ENOTFOUND: this build has no plugin. */
int dg_ranks_open(struct dg_ranks *out, struct dg_error *err);
void dg_ranks_close(struct dg_ranks *r); /* all zeros is fine */

/* Set all[ranks] to every rank's value. */
int dg_ranks_gather(const struct dg_ranks *r, uint64_t value, uint64_t *all, struct dg_error *err);
/* Set bytes[n] to rank 0's. */
int dg_ranks_share(const struct dg_ranks *r, unsigned char *bytes, size_t n, struct dg_error *err);
/* *all: `mine` is true on every rank. */
int dg_ranks_agree(const struct dg_ranks *r, bool mine, bool *all, struct dg_error *err);
/* DG_EINVAL, saying that `what` differs, unless every rank has the same value. */
int dg_ranks_same(const struct dg_ranks *r, uint64_t value, const char *what, struct dg_error *err);

/* The plugin's exported symbol. */
#define DG_RANKS_PLUGIN_SYMBOL "dg_ranks_mpi_open"
typedef int (*dg_ranks_plugin_open)(struct dg_ranks *out, struct dg_error *err);

#endif
