/* One checkpoint: a file with everything that a run needs to continue bit for bit: parameters,
 * moments, averaged weights, position in the data, update number, and the recipe, data and
 * instruction set that it belongs to. Little endian:
 *   0   char magic[8] "DGCKPT01"
 *   8   u64 header bytes
 *   16  u64 XXH3-64 of the header
 *   24  zeros up to 64
 *   64  header: a JSON object
 *   then, each at a multiple of 64: parameters, m, v and, with "ema", averages; fp32
 * Written to a temporary name, synced and renamed: a name either holds all of it or does not exist.
 * Constant after open: any thread. */
#ifndef DG_TRAINER_RUN_CHECKPOINT_H
#define DG_TRAINER_RUN_CHECKPOINT_H

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "trainer/data/dataset.h"

struct dg_checkpoint_state {
    /* updates done */
    uint64_t step;
    /* position of the next batch */
    struct dg_dataset_position position;
    uint64_t micro_tokens, threads;
    /* "cpu/avx2" */
    const char *backend;
    /* hash of the prepared folder */
    const char *data;
    /* target tokens of the epoch so far */
    uint64_t epoch_tokens;
    /* training time so far */
    double seconds;
    /* the resolved recipe */
    const struct dg_json *recipe;
};

/* [n] each; ema may be NULL. */
struct dg_checkpoint_blocks {
    size_t n;
    const float *params, *m, *v, *ema;
};

struct dg_checkpoint {
    /* its pointers are valid until dg_checkpoint_close */
    struct dg_checkpoint_state state;
    /* memory-mapped */
    struct dg_checkpoint_blocks blocks;
    struct dg_map map;
    struct dg_json *header;
};

int dg_checkpoint_write(const char *path, const struct dg_checkpoint_state *s,
    const struct dg_checkpoint_blocks *b, struct dg_error *err);

/* Map the file and check all of it, including checksums; DG_EFORMAT names the fault. */
int dg_checkpoint_open(const char *path, struct dg_checkpoint **out, struct dg_error *err);
void dg_checkpoint_close(struct dg_checkpoint *c); /* NULL is fine */

#endif
