/* The structs that the CPU backend's files share. Only kernels/cpu includes this. One thread at a
 * time per backend, as backend.h says. */
#ifndef DG_KERNELS_CPU_INTERNAL_H
#define DG_KERNELS_CPU_INTERNAL_H

#include "base/pool.h"
#include "kernels/backend.h"
#include "kernels/cpu/bf16.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/int8.h"
#include "kernels/cpu/isa.h"

/* fp32, 64-byte aligned; or fp16, for keys and values. */
struct dg_buf {
    /* [n]; NULL when fp16 */
    float *data;
    /* [n]; NULL when fp32 */
    uint16_t *halves;
    size_t n;
    /* the allocation that free() takes */
    void *block;
};

enum dg_weight_kind {
    DG_WEIGHT_ROWS,  /* fp32 [N,K] row-major: vectors, and matrices that train */
    DG_WEIGHT_PANEL, /* fp32 panels of 16 outputs (pack.h): matrices, tied tables too */
    /* s8 panels of 16 outputs (int8.h) with their sums: matrices, tied tables too */
    DG_WEIGHT_INT8,
    DG_WEIGHT_BF16,  /* bf16 panels of 16 outputs (bf16.h): matrices, tied tables too */
    DG_WEIGHT_TABLE, /* [N,K] row-major in the stored type: looked up, never multiplied */
};

struct dg_weight {
    enum dg_weight_kind kind;
    /* of data; DG_F32 for DG_WEIGHT_ROWS and DG_WEIGHT_PANEL */
    enum dg_type type;
    size_t N, K;
    /* [N,K] as kind says */
    const void *data;
    /* [N] when type is DG_S8 */
    const float *scales;
    /* set by weight_round_inputs; 0: inputs are not rounded */
    float input_scale;
    /* DG_WEIGHT_INT8: sums may be paired (int8.h) */
    bool paired;
    /* DG_WEIGHT_INT8: quantisation steps of its inputs */
    int steps;
    /* our copy, freed with the weight; NULL when data is borrowed */
    void *block;
};

enum {
    DG_ATTN_QUERIES = 8, /* query rows that share one walk over the keys */
    /* keys whose scores are held at once; more keys are walked three times */
    DG_ATTN_KEYS = 2048,
    /* pieces per thread that an op is split into, so that a slow one does not hold the others up */
    DG_TASKS_PER_THREAD = 4,
    /* bytes of quantised or rounded activations held at once; at least 8 rows of DG_INT8_K_MAX, 4
     * of DG_BF16_K_MAX */
    DG_PREPARED_BYTES = 1 << 20,
    DG_PREPARED_ROWS = 2048, /* of them, at most */
    DG_SPLIT_COST = 100000 /* multiply-adds below which waking a thread costs more than it saves */
};

struct dg_cpu {
    /* first: a struct dg_backend * is a struct dg_cpu * */
    struct dg_backend base;
    const struct dg_cpu_isa *isa;
    const struct dg_cpu_int8 *int8;
    /* NULL: bf16 weights are widened */
    const struct dg_cpu_bf16 *bf16;
    /* type of the trainer's products, set by dg_cpu_set_products, read by cpu/train/train.c */
    enum dg_type products;
    /* NULL with one thread */
    struct dg_pool *pool;
    /* threads opened; active: those that ops are split over now */
    size_t threads, active;
    /* [threads * DG_TASKS_PER_THREAD, DG_ATTN_QUERIES * DG_ATTN_KEYS] */
    float *scratch;
    /* [DG_PREPARED_BYTES] rows of activations as a product reads them (linear.c) */
    uint8_t *prepared;
    /* [DG_PREPARED_ROWS] */
    struct dg_int8_act *int8_acts;
    dg_cpu_gemm_fn *gemm;
    void *gemm_ctx;
    char name[48];
};

static inline struct dg_cpu *dg_cpu_of(struct dg_backend *be)
{
    return (struct dg_cpu *)be;
}

/* Row m of an activation. */
static inline float *dg_rows_at(struct dg_rows r, size_t m)
{
    return r.buf->data + r.offset + m * r.ld;
}

/* The elements of a weight whose type is fp32, whatever its layout. */
static inline const float *dg_weight_floats(const struct dg_weight *w)
{
    return (const float *)w->data;
}

/* The mask of row m, from element `first` on. drop NULL: none. */
static inline struct dg_mask dg_mask_of(const struct dg_dropout *drop, size_t m, uint32_t first)
{
    return drop ? (struct dg_mask){drop->row_key[m] ^ drop->site, first, drop->p}
                : (struct dg_mask){0};
}

/* Returns how many pieces to split `units` of work into: 1 unless `cost` (approximate
 * multiply-adds) is worth waking threads. */
size_t dg_cpu_pieces(const struct dg_cpu *cpu, size_t units, double cost);

/* The entries of the ops table, one file each. */
int dg_cpu_buf_new(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err);
int dg_cpu_kv_new(
    struct dg_backend *be, size_t n, enum dg_type type, struct dg_buf **out, struct dg_error *err);
void dg_cpu_buf_free(struct dg_backend *be, struct dg_buf *buf);
void dg_cpu_write(struct dg_backend *be, const float *src, struct dg_rows y, size_t M, size_t N);
void dg_cpu_read(struct dg_backend *be, struct dg_rows x, size_t M, size_t N, float *dst);
void dg_cpu_kv_write(struct dg_backend *be, struct dg_rows x, struct dg_rows pool,
    const int32_t *slots, size_t M, size_t N);
int dg_cpu_weight_new(struct dg_backend *be, const struct dg_weight_spec *spec,
    struct dg_weight **out, struct dg_error *err);
void dg_cpu_weight_free(struct dg_backend *be, struct dg_weight *w);
void dg_cpu_weight_round_inputs(struct dg_backend *be, struct dg_weight *w, float scale);
int dg_cpu_weight_set_steps(
    struct dg_backend *be, struct dg_weight *w, unsigned steps, struct dg_error *err);
void dg_cpu_embed(struct dg_backend *be, const struct dg_embed *op, struct dg_rows y, size_t M);
void dg_cpu_linear(struct dg_backend *be, const struct dg_linear *op, struct dg_rows x,
    struct dg_rows y, size_t M);
void dg_cpu_add_norm(struct dg_backend *be, const struct dg_norm *op, struct dg_rows x,
    struct dg_rows r, struct dg_rows y, size_t M, size_t D);
void dg_cpu_ssru(struct dg_backend *be, const struct dg_ssru *op, struct dg_rows z,
    struct dg_rows y, size_t M, size_t D);
void dg_cpu_attention(
    struct dg_backend *be, const struct dg_attention *op, struct dg_rows q, struct dg_rows out);
void dg_cpu_topk(struct dg_backend *be, const struct dg_topk *op, struct dg_rows logits, size_t M);

#endif
