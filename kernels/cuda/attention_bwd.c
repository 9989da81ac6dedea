/* Backward of attention: scratch, lists of segments and tiles, and the links of a guide. */
#include "kernels/cuda/internal.h"

#include <assert.h>
#include <string.h>

/* Number of attention weights of all heads and segments. */
static size_t count_pairs(const struct dg_attention *op)
{
    size_t most = 0;
    for (size_t i = 0; i < op->n_segs; i++) {
        const struct dg_attn_seg *s = &op->segs[i];
        const size_t end = s->probs + (size_t)op->H * s->n_q * s->n_k;
        assert(!s->slots);
        most = end > most ? end : most;
    }
    return most;
}

/* Send the guide's lists of M query rows and this many links; room for them must have been
 * reserved. */
static void send_guide(struct dg_cuda *cu, const struct dg_attention_grad *g, size_t M,
    size_t links, struct dg_k_guide *k)
{
    const struct dg_guide *guide = g->guide;
    struct dg_k_links *rows = dg_cuda_stage_next(cu);
    memset(rows, 0, M * sizeof *rows);
    for (size_t s = 0; s < g->op->n_segs; s++)
        for (size_t i = guide->first[s]; i < guide->first[s + 1]; i++) {
            struct dg_k_links *row = &rows[g->op->segs[s].q0 + guide->links[i].query];
            row->first = row->n++ ? row->first : (uint32_t)i;
            guide->sums->n_guided += row->n == 1;
        }
    k->rows = dg_cuda_stage_send(cu, guide->first, M * sizeof *rows);
    uint16_t *keys = dg_cuda_stage_next(cu);
    for (size_t i = 0; i < links; i++)
        keys[i] = i < guide->first[0] ? 0 : guide->links[i].key;
    k->keys = dg_cuda_stage_send(cu, guide->links, links * sizeof *keys);
    k->head = guide->head;
    k->n_heads = guide->n_heads;
    k->scale = guide->scale;
}

int dg_cuda_attention_backward(
    struct dg_train *t, const struct dg_attention_grad *g, struct dg_error *err)
{
    DG_RANGE("attention_backward");
    struct dg_cuda *cu = dg_cuda_of(t->be);
    const struct dg_attention *op = g->op;
    const bool mma =
        dg_cuda_attention_is_mma(cu, op, (struct dg_rows[]){g->q, g->dout, g->dq, g->dk, g->dv}, 5);
    const uint32_t rows = mma ? DG_MMA_ROWS : 1;
    const size_t pairs = count_pairs(op), M = dg_cuda_query_rows(op),
                 key_tiles = dg_cuda_count_tiles(op, rows, true),
                 links = g->guide ? g->guide->first[op->n_segs] : 0;
    struct dg_k_attention_bwd k = {.dout = dg_k_rows_of(g->dout),
        .dq = dg_k_rows_of(g->dq),
        .dk = dg_k_rows_of(g->dk),
        .dv = dg_k_rows_of(g->dv),
        .n_key_tiles = (uint32_t)key_tiles};
    if (!pairs || !dg_cuda_alive(cu))
        return dg_cuda_status(&cu->base, err);
    assert(g->q.buf->type == cu->type && op->probs.buf->type == cu->type);
    /* Scratch: dS, and with a guide each query row's loss and what each link adds. */
    const size_t ds_bytes = (pairs * sizeof(float) + 255) / 256 * 256,
                 loss_bytes = links ? M * sizeof(double) : 0,
                 lists =
                     key_tiles * sizeof(struct dg_k_tile) +
                     (links ? M * sizeof(struct dg_k_links) + links * sizeof(uint16_t) + 512 : 0);
    char *scratch = dg_cuda_scratch(cu, ds_bytes + loss_bytes + links * sizeof(float));
    if (!scratch)
        return dg_error_set(
            err, DG_ENOMEM, "no memory on %s for %zu attention weights", cu->name, pairs);
    if (!dg_cuda_stage_attention(cu, op, M, rows, lists, &k.a))
        return dg_cuda_status(&cu->base, err);
    k.ds = (float *)(void *)scratch;
    k.key_tiles = dg_cuda_send_tiles(cu, op, rows, true);
    k.a.q = dg_k_rows_of(g->q);
    if (links) {
        k.guide.loss = (double *)(void *)(scratch + ds_bytes);
        k.guide.adds = (float *)(void *)(scratch + ds_bytes + loss_bytes);
        dg_cuda_ok(cu, cudaMemsetAsync(k.guide.loss, 0, loss_bytes, cu->stream), "a guide's loss");
        send_guide(cu, g, M, links, &k.guide);
        dg_launch_guide(cu, &k);
        dg_launch_add_rows(cu, &(struct dg_k_add_rows){k.guide.loss, &cu->sums->guided, M, 1});
    }
    if (mma)
        dg_launch_attention_bwd_mma(cu, &k);
    else
        dg_launch_attention_bwd(cu, &k);
    return dg_cuda_status(&cu->base, err);
}
