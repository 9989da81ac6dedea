/* An attention call's segments in the form that the device needs: lists of segments, of tiles, and
 * of all slots, one after the other. */
#include "kernels/cuda/beam.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* List the tiles of `rows` queries, or keys, of all segments; to: [their number], or NULL. Returns
 * their number. */
static size_t fill_tiles(
    const struct dg_attention *op, uint32_t rows, bool of_keys, struct dg_k_tile *to)
{
    size_t n = 0;
    for (size_t i = 0; i < op->n_segs; i++) {
        const struct dg_attn_seg *s = &op->segs[i];
        const uint32_t end = s->n_k && s->n_q ? (of_keys ? s->n_k : s->n_q) : 0;
        for (uint32_t first = 0; first < end; first += rows, n++)
            if (to)
                to[n] = (struct dg_k_tile){(uint32_t)i, first};
    }
    return n;
}

size_t dg_cuda_count_tiles(const struct dg_attention *op, uint32_t rows, bool of_keys)
{
    return fill_tiles(op, rows, of_keys, NULL);
}

const struct dg_k_tile *dg_cuda_send_tiles(
    struct dg_cuda *cu, const struct dg_attention *op, uint32_t rows, bool of_keys)
{
    struct dg_k_tile *to = dg_cuda_stage_next(cu);
    const size_t n = fill_tiles(op, rows, of_keys, to);
    return dg_cuda_stage_send(cu, of_keys ? &op->segs->n_k : &op->segs->q0, n * sizeof *to);
}

static const struct dg_k_seg *send_segs(struct dg_cuda *cu, const struct dg_attention *op)
{
    struct dg_k_seg *to = dg_cuda_stage_next(cu);
    int64_t at = 0;
    for (size_t i = 0; i < op->n_segs; i++) {
        const struct dg_attn_seg *s = &op->segs[i];
        assert(!s->causal || s->n_q <= s->n_k);
        to[i] = (struct dg_k_seg){
            s->q0, s->n_q, s->n_k, s->k0, s->slots ? at : -1, s->probs, s->causal};
        at += s->slots ? (int64_t)s->n_k : 0;
    }
    return dg_cuda_stage_send(cu, op->segs, op->n_segs * sizeof *to);
}

static const int32_t *send_slots(struct dg_cuda *cu, const struct dg_attention *op, size_t n)
{
    int32_t *to = dg_cuda_stage_next(cu), *at = to;
    for (size_t i = 0; i < op->n_segs; i++) {
        const struct dg_attn_seg *s = &op->segs[i];
        if (s->slots) {
            memcpy(at, s->slots, s->n_k * sizeof *at);
            at += s->n_k;
        }
    }
    return dg_cuda_stage_send(cu, &op->segs->slots, n * sizeof *to);
}

/* All fields but the lists of segments. */
static struct dg_k_attention fixed_part(const struct dg_attention *op, uint32_t rows)
{
    return (struct dg_k_attention){.H = op->H,
        .Dk = op->Dk,
        .Dv = op->Dv,
        .scale = 1.0f / sqrtf((float)op->Dk),
        .tile_rows = rows,
        .k = dg_k_rows_of(op->k),
        .v = dg_k_rows_of(op->v),
        .probs = dg_k_rows_of(op->probs),
        .new_k = dg_k_rows_of(op->new_k),
        .new_v = dg_k_rows_of(op->new_v)};
}

bool dg_cuda_stage_attention(struct dg_cuda *cu, const struct dg_attention *op, size_t M,
    uint32_t rows, size_t spare, struct dg_k_attention *k)
{
    const size_t tiles = dg_cuda_count_tiles(op, rows, false);
    size_t slots = 0;
    for (size_t i = 0; i < op->n_segs; i++)
        slots += op->segs[i].slots ? op->segs[i].n_k : 0;
    const size_t bytes = op->n_segs * sizeof *k->segs + slots * sizeof *k->slots +
                         tiles * sizeof *k->tiles + (op->drop ? M * sizeof(uint32_t) : 0);
    if (!tiles || !op->H || !dg_cuda_stage_reserve(cu, bytes + spare, 5))
        return false;
    *k = fixed_part(op, rows);
    k->n_tiles = (uint32_t)tiles;
    k->segs = send_segs(cu, op);
    k->slots = slots ? send_slots(cu, op, slots) : NULL;
    k->tiles = dg_cuda_send_tiles(cu, op, rows, false);
    k->drop = dg_cuda_drop(cu, op->drop, M);
    return true;
}

size_t dg_cuda_query_rows(const struct dg_attention *op)
{
    size_t M = 0;
    for (size_t i = 0; i < op->n_segs; i++)
        if (op->segs[i].q0 + (size_t)op->segs[i].n_q > M)
            M = op->segs[i].q0 + (size_t)op->segs[i].n_q;
    return M;
}

/* Use the segments of the open step, whose lists the device has made itself. */
static bool step_attention(
    struct dg_cuda *cu, const struct dg_attention *op, struct dg_k_attention *k)
{
    const bool self = op->of == DG_ATTN_STEP_SELF;
    assert(cu->step);
    const struct dg_k_device_search *t = &cu->step->k;
    *k = fixed_part(op, 1);
    k->n_tiles = cu->step->M;
    k->segs = self ? t->self : t->cross;
    k->slots = self ? t->history : t->memories;
    k->tiles = self ? NULL : t->cross_tiles;
    return dg_cuda_alive(cu);
}

static bool aligned(const struct dg_cuda *cu, struct dg_rows r)
{
    const struct dg_k_rows k = dg_k_rows_of(r);
    return k.type == cu->type && dg_k_alignment(k) == 16;
}

/* Tensor cores take training's calls in 16 bits, over packed rows of heads whose size has a kernel
 * (attention_fwd_mma.cu, attention_bwd_mma.cu), with all rows at 16-byte boundaries; none with
 * DRAGOMAN_DEBUG=cuda-plain-attention. */
bool dg_cuda_attention_is_mma(const struct dg_cuda *cu, const struct dg_attention *op,
    const struct dg_rows *rows, size_t n_rows)
{
    if (!cu->trains || cu->plain_attention || cu->type == DG_F32 || op->of != DG_ATTN_SEGS ||
        !op->probs.buf || op->probs.buf->type != cu->type)
        return false;
    if (op->Dk != op->Dv || (op->Dk != 32 && op->Dk != 64))
        return false;
    for (size_t i = 0; i < op->n_segs; i++)
        if (op->segs[i].slots)
            return false;
    for (size_t i = 0; i < n_rows; i++)
        if (!aligned(cu, rows[i]))
            return false;
    return aligned(cu, op->k) && aligned(cu, op->v);
}

void dg_cuda_attention(
    struct dg_backend *be, const struct dg_attention *op, struct dg_rows q, struct dg_rows out)
{
    DG_RANGE("attention");
    struct dg_cuda *cu = dg_cuda_of(be);
    struct dg_k_attention k;
    const bool mma = dg_cuda_attention_is_mma(cu, op, (struct dg_rows[]){q, out}, 2);
    const uint32_t rows = mma ? DG_MMA_ROWS : 1;
    if (op->of != DG_ATTN_SEGS
            ? !step_attention(cu, op, &k)
            : !dg_cuda_stage_attention(cu, op, dg_cuda_query_rows(op), rows, 0, &k))
        return;
    k.q = dg_k_rows_of(q);
    k.out = dg_k_rows_of(out);
    assert(!k.new_k.p ||
           (k.tile_rows == 1 && k.slots && k.new_k.type == k.k.type && k.new_v.type == k.v.type));
    if (mma)
        dg_launch_attention_mma(cu, &k);
    else
        dg_launch_attention(cu, &k);
}
