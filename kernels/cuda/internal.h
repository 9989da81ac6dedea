/* Shared by the CUDA plugin's files: its structs and the entries of its tables. Host code is C and
 * sees CUDA's runtime API only; kernels are in the .cu files behind launch.h and launch_train.h;
 * cuBLASLt is behind gemm.h. Only kernels/cuda includes this. One thread at a time per backend, as
 * backend.h says. */
#ifndef DG_KERNELS_CUDA_INTERNAL_H
#define DG_KERNELS_CUDA_INTERNAL_H

#include "kernels/cuda/gemm.h"
#include "kernels/cuda/launch_train.h"
#include "kernels/cuda/profile.h"
#include "kernels/plugin.h"
#include "kernels/team.h"

#include <time.h>

/* data[n] on the device */
struct dg_buf {
    void *data;
    size_t n;
    enum dg_type type;
};

/* A weight [N,K]. Either matrix or floats is set; vectors have both when the mode is 16-bit, for
 * products that add them in their last step. */
struct dg_weight {
    size_t N, K;
    unsigned use;
    bool trainable;
    /* the memory belongs to a block of the trainer's, or to the weight that this one was joined
     * to */
    bool borrowed;
    /* in the backend's type: multiplied or added, and looked up when tied */
    void *matrix;
    /* fp32: vectors, tables that are never multiplied, trainable memory */
    float *floats;
};

/* An array staged since the last wait: found again by its source address, if its bytes are still
 * the same. */
struct dg_staged {
    const void *key;
    size_t at, bytes;
};

enum { DG_STAGED_MAX = 64 };

/* Host arrays on their way to the device: one pinned buffer [bytes] and its twin on the device,
 * filled from the start after each wait for the device (staging.c). */
struct dg_stage {
    unsigned char *host, *device;
    size_t bytes, used;
    struct dg_staged staged[DG_STAGED_MAX];
    size_t n_staged;
};

/* What belongs to one stream: dg_cuda_wait's event, staging, cuBLASLt's workspace
 * [DG_WORKSPACE]. */
struct dg_lane {
    cudaStream_t stream;
    cudaEvent_t done;
    struct dg_stage stage;
    void *workspace;
};

/* SIDE: encoder passes beside the steps (side.c). */
enum { DG_LANE_STEPS, DG_LANE_SIDE, DG_LANES };
enum { DG_WORKSPACE = 32 << 20, DG_SIDE_EVENTS = 8 };

struct dg_cuda {
    /* base comes first: a struct dg_backend * is a struct dg_cuda *. ops: a copy of the common
     * table, with the entries that depend on this device */
    struct dg_backend base;
    struct dg_ops ops;
    int device;
    char name[96];
    /* type of activations and matrices */
    enum dg_type type;
    /* The device's first error; later ones do not replace it. */
    struct dg_error failure;
    /* lane, stream: where ops go now */
    struct dg_lane lanes[DG_LANES], *lane;
    cudaStream_t stream;
    /* side_events: each recorded after side ops of number i, i + DG_SIDE_EVENTS, ...; sides: the
     * last number given */
    cudaEvent_t side_events[DG_SIDE_EVENTS];
    uint32_t sides;
    /* ends the program if a wait takes longer (watch.c); patience_s 0: there is no timer */
    timer_t timer;
    double patience_s;
    /* memory.c's blocks; bytes held from the driver */
    struct dg_memory_block *memory;
    size_t memory_bytes;
    /* one op's intermediate results, on the device; results that come back, pinned on the host.
     * Both grow */
    void *scratch;
    unsigned char *results;
    size_t scratch_bytes, results_bytes;
    /* gemm_refusals: how often cuBLASLt refused an algorithm that it had chosen; a refusal makes
     * earlier graphs invalid. own_products: DRAGOMAN_CUDA_GEMM=own, never use the library.
     * no_masks: the library lacks ReLU's mask for some call, so backward always reads ReLU's output
     * instead */
    struct dg_cuda_gemm_context *gemm;
    unsigned gemm_refusals;
    bool own_products, no_masks;
    /* dg_cuda_starts_early */
    bool early;
    /* trains: a trainer was opened, for which staging takes more room and attention may use tensor
     * cores; plain_attention: it may not, DRAGOMAN_DEBUG=cuda-plain-attention */
    bool trains, plain_attention;
    /* host_search: DRAGOMAN_CUDA_STEP=host, no search is opened. graphs: steps are recorded, until
     * the driver refuses. step: the search with an open step, whose lists ops read, else NULL
     * (beam.h) */
    bool host_search, graphs;
    struct dg_device_search *step;
    /* the trainer's: sums on the device (train.c), blocks (block.c) */
    struct dg_k_sums *sums;
    struct dg_cuda_block *blocks;
};

static inline struct dg_cuda *dg_cuda_of(struct dg_backend *be)
{
    return (struct dg_cuda *)(void *)be;
}

/* Rows as kernels take them. */
static inline struct dg_k_rows dg_k_rows_of(struct dg_rows r)
{
    struct dg_k_rows k = {NULL, r.ld, DG_F32};
    if (r.buf) {
        k.type = r.buf->type;
        k.p = (char *)r.buf->data + r.offset * dg_cuda_type_bytes(r.buf->type);
    }
    return k;
}

/* True if no failure was noted (dg_cuda_ok); every op starts with this check. */
bool dg_cuda_alive(struct dg_cuda *cu); /* also makes it the calling thread's device */
/* The error of a device that a CUDA call refused; DG_ENOTFOUND. */
int dg_cuda_unusable(int device, int cuda_error, struct dg_error *err);
/* Make it the calling thread's device; a cudaError_t. */
int dg_cuda_here(const struct dg_cuda *cu);
void dg_cuda_fail(struct dg_cuda *cu, const struct dg_error *err);
/* Returns the noted failure and sets *err to it; DG_OK: there is none. */
int dg_cuda_status(struct dg_backend *be, struct dg_error *err);

/* As cudaMemcpyAsync in the stream that ops go to; a failure is noted. */
bool dg_cuda_copy(struct dg_cuda *cu, void *to, const void *from, size_t bytes,
    enum cudaMemcpyKind kind, const char *what);

/* Device memory, 256-byte aligned, contents unspecified; NULL when there is none. */
void *dg_cuda_alloc(struct dg_cuda *cu, size_t bytes);
void dg_cuda_release(struct dg_cuda *cu, void *p); /* NULL is fine */
void dg_cuda_memory_close(struct dg_cuda *cu);

/* At least this many bytes of scratch space; NULL: the device failed. Earlier contents are lost. */
void *dg_cuda_scratch(struct dg_cuda *cu, size_t bytes);
/* The same for pinned results. Waits for the device when it grows. */
void *dg_cuda_results(struct dg_cuda *cu, size_t bytes);

int dg_cuda_reserve(struct dg_backend *be, const struct dg_most *most, struct dg_error *err);

/* Choose the stream that ops go to from now on (side.c). */
void dg_cuda_use_lane(struct dg_cuda *cu, int lane);
int dg_cuda_lanes_open(struct dg_cuda *cu, struct dg_error *err);
/* Waits for both streams, then closes them. */
void dg_cuda_lanes_close(struct dg_cuda *cu);
void dg_cuda_side_begin(struct dg_backend *be);
uint32_t dg_cuda_side_end(struct dg_backend *be);
bool dg_cuda_side_done(struct dg_backend *be, uint32_t number);
void dg_cuda_side_join(struct dg_backend *be, uint32_t number);

/* Staging, in the stream that ops go to. Reserve room for all arrays of an op first, because when
 * room runs out, reserving waits for the device and starts over. Each array is filled in place and
 * sent; the same bytes under the same key are sent once. */
bool dg_cuda_stage_reserve(struct dg_cuda *cu, size_t bytes, size_t arrays);
void *dg_cuda_stage_next(struct dg_cuda *cu);
const void *dg_cuda_stage_send(struct dg_cuda *cu, const void *key, size_t bytes);
/* All three for one plain array. */
const void *dg_cuda_stage_array(struct dg_cuda *cu, const void *src, size_t bytes);
/* Create an event without timing, on which a waiting thread sleeps; a cudaError_t. The caller
 * destroys it. */
int dg_cuda_event(struct dg_cuda *cu, cudaEvent_t *out);
/* Wait until the device has reached the event. The thread sleeps; if the device has not reached it
 * after $DRAGOMAN_CUDA_PATIENCE seconds (60; 0: no limit), the program ends (watch.c). */
bool dg_cuda_reach(struct dg_cuda *cu, cudaEvent_t event, const char *what);
/* True if the device has reached the event, or if asking failed; does not wait. */
bool dg_cuda_passed(struct dg_cuda *cu, cudaEvent_t event, const char *what);
int dg_cuda_watch_open(struct dg_cuda *cu, struct dg_error *err);
void dg_cuda_watch_close(struct dg_cuda *cu);
/* Wait until the device has done everything in the stream that ops go to. */
bool dg_cuda_wait(struct dg_cuda *cu);
void dg_cuda_stage_close(struct dg_cuda *cu); /* the stage of the stream that ops go to */

/* Dropout for kernels; stages its keys[M] (reserve for them first). NULL gives none. */
struct dg_k_drop dg_cuda_drop(struct dg_cuda *cu, const struct dg_dropout *drop, size_t M);

/* Training's backward of a linear, and its forward product with ReLU's mask (linear_bwd.c). */
void dg_cuda_multiply_masked(
    struct dg_cuda *cu, const struct dg_gemm_call *call, struct dg_rows mask);
void dg_cuda_linear_backward(struct dg_train *t, const struct dg_linear_grad *g, size_t M);

/* A weight's elements as `type`, which is fp32 or the backend's. The 16-bit copy of a trainable
 * weight is made when it is first asked for, and kept up to date from then on. NULL: the device
 * failed. */
void *dg_cuda_operand(struct dg_cuda *cu, const struct dg_weight *w, enum dg_type type);

/* Stage an attention call's segments, and its queries in tiles of `rows`; `spare` bytes stay free
 * for one more array (attention.c). False: nothing to do, or the device failed. */
bool dg_cuda_stage_attention(struct dg_cuda *cu, const struct dg_attention *op, size_t M,
    uint32_t rows, size_t spare, struct dg_k_attention *k);
/* The call's tiles of queries, or of keys: their number, and their list, for which room must have
 * been reserved. */
size_t dg_cuda_count_tiles(const struct dg_attention *op, uint32_t rows, bool of_keys);
const struct dg_k_tile *dg_cuda_send_tiles(
    struct dg_cuda *cu, const struct dg_attention *op, uint32_t rows, bool of_keys);
/* End of the rows that an attention call's queries are in: its number of dropout keys. */
size_t dg_cuda_query_rows(const struct dg_attention *op);

/* True if an attention call goes to tensor cores (attention.c); rows: all its rows other than keys
 * and values. */
bool dg_cuda_attention_is_mma(const struct dg_cuda *cu, const struct dg_attention *op,
    const struct dg_rows *rows, size_t n_rows);

/* Blocks of the trainer (block.c); NULL can be freed. */
int dg_cuda_block_new(struct dg_train *t, size_t n, float **out, struct dg_error *err);
void dg_cuda_block_free(struct dg_train *t, float *data);
/* True if p[n] is within a block of this device. */
bool dg_cuda_block_holds(struct dg_cuda *cu, const float *p, size_t n);
/* Update the 16-bit copy, if there is one, of p[n], a part of a block that was written. */
void dg_cuda_block_changed(struct dg_cuda *cu, const float *p, size_t n);
/* The 16-bit copy of what p points to; NULL: none was asked for yet. */
void *dg_cuda_block_shadow(struct dg_cuda *cu, const float *p);

/* Backward of attention, with its guide (attention_bwd.c). */
int dg_cuda_attention_backward(
    struct dg_train *t, const struct dg_attention_grad *g, struct dg_error *err);

int dg_cuda_buf_new(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err);
int dg_cuda_buf_new_wide(
    struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err);
void dg_cuda_buf_free(struct dg_backend *be, struct dg_buf *buf);
void dg_cuda_write(struct dg_backend *be, const float *src, struct dg_rows y, size_t M, size_t N);
void dg_cuda_read(struct dg_backend *be, struct dg_rows x, size_t M, size_t N, float *dst);
int dg_cuda_weight_new(struct dg_backend *be, const struct dg_weight_spec *spec,
    struct dg_weight **out, struct dg_error *err);
int dg_cuda_weight_join(struct dg_backend *be, struct dg_weight *const *parts, size_t n,
    struct dg_weight **out, struct dg_error *err);
void dg_cuda_weight_free(struct dg_backend *be, struct dg_weight *w);
void dg_cuda_attention(
    struct dg_backend *be, const struct dg_attention *op, struct dg_rows q, struct dg_rows out);

/* The common table of ops; what depends on the device is filled in when it opens (ops.c). */
extern const struct dg_ops dg_cuda_ops;
int dg_cuda_memory(struct dg_backend *be, struct dg_memory *out, struct dg_error *err);
void dg_cuda_close(struct dg_backend *be);

/* The trainer's table over this backend (train.c), and the team's entries in it (team.c). */
extern const struct dg_team_ops dg_cuda_team_ops;
int dg_cuda_train_open(struct dg_backend *be, struct dg_train **out, struct dg_error *err);

#endif
