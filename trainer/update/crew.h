/* The threads of a training process. Each worker has a single-threaded backend, its own activations
 * and its own gradient block, and works on its share of a batch without waiting for other threads.
 * One caller at a time. */
#ifndef DG_TRAINER_UPDATE_CREW_H
#define DG_TRAINER_UPDATE_CREW_H

#include "base/pool.h"
#include "kernels/device.h"
#include "model/train/tape.h"
#include "model/param_block.h"
#include "trainer/data/dataset.h"
#include "trainer/align/guided.h"

struct dg_worker {
    struct dg_backend *be;
    struct dg_train *train;
    struct dg_tape *tape;
    /* this worker's share of the batch's gradient */
    struct dg_param_block *grads;
    /* loss sums of its share */
    struct dg_loss_sums sums;
    struct dg_error err;
    /* The micro-batch being packed, down to `guided`: */
    /* [2 * cap_pairs] source lengths, target lengths */
    uint32_t *len;
    /* [cap_pairs] */
    uint64_t *index;
    /* [cap_ids] */
    int32_t *ids;
    size_t cap_pairs, cap_ids;
    /* links of the micro-batch, with guided alignment */
    struct dg_guided guided;
};

struct dg_crew {
    struct dg_pool *pool;
    int n;
    /* [n] */
    struct dg_worker *w;
    /* read by all workers */
    struct dg_param_block *params;
};

struct dg_crew_options {
    const struct dg_config *config;
    /* 0: all cores that this process may use; always 1 on a GPU */
    int threads;
    /* longest side of a pair, </s> counted */
    uint32_t max_positions;
    /* NULL: the CPU */
    const struct dg_device *device;
};

int dg_crew_open(const struct dg_crew_options *o, struct dg_crew **out, struct dg_error *err);
void dg_crew_close(struct dg_crew *ws); /* NULL is fine */

/* A block readable by the host: the block itself on a CPU, otherwise a copy. */
struct dg_crew_host_block {
    /* [n] */
    const float *data;
    /* [n], caller frees; NULL: no copy was needed */
    float *copy;
};
int dg_crew_host_block(struct dg_train *t, const float *block, size_t n,
    struct dg_crew_host_block *out, struct dg_error *err);

/* Callbacks from the workers' threads on the progress of a pass's gradients. */
struct dg_crew_watch {
    /* The worker's gradients of a layer are finished; in the order of struct dg_tape_watch. */
    void (*layer_done)(void *arg, size_t worker, int side, uint32_t layer);
    /* all of the worker's gradients are finished; also called after an error */
    void (*worker_done)(void *arg, size_t worker);
    void *arg;
};

/* One batch of a dataset through the model. */
struct dg_crew_pass {
    const struct dg_dataset *data;
    const struct dg_batch *batch;
    const struct dg_objective *objective;
    /* NULL: the crew's own */
    struct dg_params *params;
    /* source + target tokens of a worker's micro-batch */
    uint64_t micro_tokens;
    /* compute gradients; false: only the loss */
    bool gradients;
    /* among the processes that share the batch; 0 and 1 for a single process */
    size_t rank, ranks;
    /* NULL: no callbacks */
    const struct dg_crew_watch *watch;
};

/* Zero the gradients and run the pass. Return the error of the first worker that has one. */
int dg_crew_run(struct dg_crew *ws, const struct dg_crew_pass *pass, struct dg_error *err);
/* Loss sums of the last pass over this process's share; waits for a device. */
void dg_crew_sums(struct dg_crew *ws, struct dg_loss_sums *sums);
/* Add a part's sums to those of the whole. */
void dg_crew_add_sums(struct dg_loss_sums *whole, const struct dg_loss_sums *part);

#endif
