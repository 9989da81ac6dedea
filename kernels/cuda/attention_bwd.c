/* Backward of attention: room, lists of pieces and tiles, and the links of a guide. */
#include "kernels/cuda/internal.h"
#include "kernels/cuda/launch_train.h"

#include <assert.h>
#include <string.h>

/* What the call needs, counted first. */
struct needs {
    size_t pairs, key_tiles;     /* of all heads and pieces */
    size_t M, links;             /* query rows; links of the guide */
    size_t ds_bytes, loss_bytes; /* scratch: dS, each query row's loss, what each link adds */
    bool mma;                    /* on tensor cores */
    uint32_t rows;               /* of a tile */
};

static struct needs count(const struct dg_cuda *cu, const struct dg_attention_grad *g)
{
    const struct dg_attention *op = g->op;
    const bool mma =
        dg_cuda_attention_is_mma(cu, op, (struct dg_rows[]){g->q, g->dout, g->dq, g->dk, g->dv}, 5);
    const uint32_t rows = mma ? dg_attention_mma_rows() : 1;
    struct needs n = {.mma = mma,
        .rows = rows,
        .key_tiles = dg_cuda_count_tiles(op, rows, true),
        .M = dg_cuda_query_rows(op),
        .links = g->guide ? g->guide->first[op->n_segs] : 0};
    for (size_t i = 0; i < op->n_segs; i++) {
        const struct dg_attn_seg *s = &op->segs[i];
        const size_t end = s->probs + (size_t)op->H * s->n_q * s->n_k;
        assert(!s->slots);
        n.pairs = end > n.pairs ? end : n.pairs;
    }
    n.ds_bytes = (n.pairs * sizeof(float) + 255) / 256 * 256;
    n.loss_bytes = n.links ? n.M * sizeof(double) : 0;
    return n;
}

/* Room that the guide's lists take in staging beside the rest. */
static size_t guide_room(const struct needs *n)
{
    return n->links ? n->M * sizeof(struct dg_k_links) + n->links * sizeof(uint16_t) + 2 * 256 : 0;
}

static void send_guide(struct dg_cuda *cu, const struct dg_attention_grad *g, const struct needs *n,
    struct dg_k_guide *k)
{
    const struct dg_guide *guide = g->guide;
    struct dg_k_links *rows = dg_cuda_stage_next(cu);
    memset(rows, 0, n->M * sizeof *rows);
    for (size_t s = 0; s < g->op->n_segs; s++)
        for (size_t i = guide->first[s]; i < guide->first[s + 1]; i++) {
            struct dg_k_links *row = &rows[g->op->segs[s].q0 + guide->links[i].query];
            row->first = row->n++ ? row->first : (uint32_t)i;
        }
    k->rows = dg_cuda_stage_send(cu, guide->first, n->M * sizeof *rows);
    uint16_t *keys = dg_cuda_stage_next(cu);
    for (size_t i = 0; i < n->links; i++)
        keys[i] = i < guide->first[0] ? 0 : guide->links[i].key;
    k->keys = dg_cuda_stage_send(cu, guide->links, n->links * sizeof *keys);
    k->head = guide->head;
    k->n_heads = guide->n_heads;
    k->scale = guide->scale;
}

/* The rows' losses go to the update's sums; how many they are is known here. */
static void add_guide(struct dg_cuda *cu, const struct dg_guide *guide, size_t n_segs,
    const struct needs *n, const double *losses)
{
    const struct dg_k_add_rows k = {losses, &cu->sums->guided, n->M, 1};
    dg_launch_add_rows(cu, &k);
    for (size_t s = 0; s < n_segs; s++)
        for (size_t i = guide->first[s]; i < guide->first[s + 1]; i++)
            guide->sums->n_guided +=
                i == guide->first[s] || guide->links[i - 1].query != guide->links[i].query;
}

int dg_cuda_attention_backward(
    struct dg_train *t, const struct dg_attention_grad *g, struct dg_error *err)
{
    DG_RANGE("attention_backward");
    struct dg_cuda *cu = dg_cuda_of(t->be);
    const struct dg_attention *op = g->op;
    const struct needs n = count(cu, g);
    struct dg_k_attention_bwd k = {.dout = dg_k_rows_of(g->dout),
        .dq = dg_k_rows_of(g->dq),
        .dk = dg_k_rows_of(g->dk),
        .dv = dg_k_rows_of(g->dv)};
    if (!n.pairs || !dg_cuda_alive(cu))
        return dg_cuda_status(&cu->base, err);
    assert(g->q.buf->type == cu->type && op->probs.buf->type == cu->type);
    char *scratch = dg_cuda_scratch(cu, n.ds_bytes + n.loss_bytes + n.links * sizeof(float));
    if (!scratch)
        return dg_error_set(
            err, DG_ENOMEM, "no memory on %s for %zu attention weights", cu->name, n.pairs);
    if (!dg_cuda_stage_attention(
            cu, op, n.M, n.rows, n.key_tiles * sizeof(struct dg_k_tile) + guide_room(&n), &k.a))
        return dg_cuda_status(&cu->base, err);
    k.ds = (float *)(void *)scratch;
    k.key_tiles = dg_cuda_send_tiles(cu, op, n.rows, true);
    k.n_key_tiles = (uint32_t)n.key_tiles;
    k.a.q = dg_k_rows_of(g->q);
    if (n.links) {
        k.guide.loss = (double *)(void *)(scratch + n.ds_bytes);
        k.guide.adds = (float *)(void *)(scratch + n.ds_bytes + n.loss_bytes);
        dg_cuda_ok(
            cu, cudaMemsetAsync(k.guide.loss, 0, n.loss_bytes, cu->stream), "the guide's loss");
        send_guide(cu, g, &n, &k.guide);
        dg_launch_guide(cu, &k);
    }
    if (n.mma)
        dg_launch_attention_bwd_mma(cu, &k);
    else
        dg_launch_attention_bwd(cu, &k);
    if (n.links)
        add_guide(cu, g->guide, op->n_segs, &n, k.guide.loss);
    return dg_cuda_status(&cu->base, err);
}
