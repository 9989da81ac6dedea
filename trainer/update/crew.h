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
    /* of its share */
    struct dg_loss_sums sums;
    struct dg_error err;
    /* The micro-batch being packed. */
    /* [2 * cap_pairs] source lengths, target lengths */
    uint32_t *len;
    /* [cap_pairs] */
    uint64_t *index;
    /* [cap_ids] */
    int32_t *ids;
    size_t cap_pairs, cap_ids;
    /* its links, with guided alignment */
    struct dg_guided guided;
};

struct dg_crew {
    struct dg_pool *pool;
    int n;
    /* [n] */
    struct dg_worker *w;
    /* read by all */
    struct dg_param_block *params;
};

struct dg_crew_options {
    const struct dg_config *config;
    /* 0: all that this process may use; a GPU takes one */
    int threads;
    /* longest side of a pair, </s> counted */
    uint32_t max_positions;
    /* NULL: the CPU */
    const struct dg_device *device;
};

int dg_crew_open(const struct dg_crew_options *o, struct dg_crew **out, struct dg_error *err);
void dg_crew_close(struct dg_crew *ws); /* NULL is fine */

/* A block readable by the host: itself on a CPU, otherwise a copy to be freed. */
struct dg_crew_host_block {
    /* [n] */
    const float *data;
    /* [n]; NULL: there is none */
    float *copy;
};
int dg_crew_host_block(struct dg_train *t, const float *block, size_t n,
    struct dg_crew_host_block *out, struct dg_error *err);

/* Told, from the workers' threads, how far the gradients of a pass are. */
struct dg_crew_watch {
    /* Worker's gradients of a layer are finished; order of struct dg_tape_watch. */
    void (*layer_done)(void *arg, size_t worker, int side, uint32_t layer);
    /* all of them, after an error too */
    void (*worker_done)(void *arg, size_t worker);
    void *arg;
};

/* One batch of a dataset through the model. */
struct dg_crew_pass {
    const struct dg_dataset *data;
    const struct dg_batch *batch;
    const struct dg_objective *objective;
    /* NULL: those of the workers */
    struct dg_params *params;
    /* source + target tokens a worker takes at once */
    uint64_t micro_tokens;
    /* otherwise only the loss */
    bool gradients;
    /* of the processes that share the batch; 0, 1 alone */
    size_t rank, ranks;
    /* NULL: no callback told */
    const struct dg_crew_watch *watch;
};

/* Zero the gradients and run. The first worker's error is the pass's. */
int dg_crew_run(struct dg_crew *ws, const struct dg_crew_pass *pass, struct dg_error *err);
/* The last pass's sums over this process's share; waits for a device. */
void dg_crew_sums(struct dg_crew *ws, struct dg_loss_sums *sums);

#endif
