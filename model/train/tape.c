/* DESIGN. All activations of a micro-batch are rows of two buffers, one after the other; a second
 * buffer has those that are fp32 on every device. The same code (slots.c) counts and assigns them:
 * with no buffers yet it says how large they must be. Sentences are packed, so a segment per
 * sentence says which rows belong together, and where its attention probabilities go.
 *
 * Example: two pairs, of 3 and 2 source tokens and 2 and 4 target tokens, </s> counted; the labels
 * are a </s> and b c d </s>.
 *
 *   measure   S = 5 rows, T = 6 rows; n_q x n_k: source 9 + 4, target 4 + 16, cross 2x3 + 4x2.
 *
 *   fill      source rows 0 1 2 | 3 4 are at positions 0 1 2 | 0 1;
 *             target rows 0 1 | 2 3 4 5 read <start> a | <start> b c d, the label before theirs;
 *             cross segments: queries 0..1 over keys 0..2, their probabilities from 0 on,
 *             and queries 2..5 over keys 3..4, from H x 6 on.
 *
 *   lay out   gradients (one set serves all layers), both embeddings, then for every layer its qkv,
 *             probabilities, context and norm: forward fills them, backward reads them. */
#include "model/train/tape_internal.h"

#include <stdlib.h>
#include <string.h>

/* Rows of logits at a time: as many as the device prefers (a CPU: so that the three passes of the
 * loss find them in cache), but enough for the products to be worth their set-up. */
static size_t chunk_rows(const struct dg_config *c, size_t T, size_t bytes)
{
    size_t rows = bytes / sizeof(float) / c->target_vocab;
    rows = rows < 64 ? 64 : rows;
    return rows < T ? rows : T;
}

struct dg_tape_device dg_tape_device(const struct dg_train *train, size_t element)
{
    const struct dg_train_ops *ops = train->ops;
    return (struct dg_tape_device){element, ops->loss_bytes, ops->room_bytes, ops->weight_bytes,
        ops->masks, !train->be->ops->on_host};
}

/* Size of a buffer with room to spare: the next micro-batch may be a little larger. */
static size_t with_spare(size_t n)
{
    return n + n / 16;
}

size_t dg_tape_bytes(const struct dg_config *config, const struct dg_tape_device *device, size_t S,
    size_t T, uint32_t longest)
{
    const struct dg_train_ops ops = {.masks = device->masks};
    struct dg_train train = {.ops = &ops};
    struct dg_tape *t = calloc(1, sizeof *t);
    if (!t)
        return 0;
    t->config = *config;
    t->train = &train;
    /* Sentences of the greatest length need the most probabilities: S/longest of longest^2 each. */
    struct dg_tape_sizes n = {
        S, T, S * longest, T * longest, T * longest, chunk_rows(config, T, device->loss_bytes)};
    struct dg_tape_cursor c = dg_tape_lay_out(t, &n);
    free(t);
    if (device->own_memory) {
        const size_t weights = (S > T ? S : T) * longest * config->H;
        return with_spare(c.at) * device->element + with_spare(c.wide_at) * sizeof(float) +
               weights * device->weight_bytes + device->room_bytes;
    }
    /* On the host, memory counts once it is touched, and the spare part never is. Where the output
     * layer is one op, it keeps 16 bits for each logit. */
    const size_t output = T * config->target_vocab * 2;
    return (c.at + c.wide_at) * sizeof(float) + (S + T) * 16 +
           (output < DG_OUTPUT_BYTES ? output : DG_OUTPUT_BYTES);
}

int dg_tape_check(const struct dg_config *c, const struct dg_train *train, struct dg_error *err)
{
    const char *device = train->be->ops->device;
    if (c->decoder == DG_DECODER_SSRU && !train->ops->ssru_backward)
        return dg_error_field(err, DG_EUNSUP, "model.decoder",
            "model.decoder is ssru, which %s cannot train: train on a CPU", device);
    if (c->pre_norm && !train->ops->norm_sums)
        return dg_error_field(err, DG_EUNSUP, "model.pre_norm",
            "model.pre_norm is true, which %s cannot train: train on a CPU", device);
    const char *field = c->dec_F ? "model.decoder_d_ff" : c->dec_H ? "model.decoder_heads" : NULL;
    return field ? dg_error_field(err, DG_EUNSUP, field,
                       "%s: the trainer trains decoders as wide as the encoder, and this model has "
                       "another",
                       field)
                 : 0;
}

int dg_tape_open(const struct dg_config *config, struct dg_train *train, uint32_t max_positions,
    struct dg_tape **out, struct dg_error *err)
{
    int rc = dg_tape_check(config, train, err);
    if (rc)
        return rc;
    struct dg_tape *t = calloc(1, sizeof *t);
    if (!t)
        return dg_error_set(err, DG_ENOMEM, "no memory for a tape");
    t->config = *config;
    t->train = train;
    rc = dg_position_table_open(&t->positions, train->be, config, max_positions, err);
    if (rc) {
        dg_tape_close(t);
        return rc;
    }
    *out = t;
    return 0;
}

void dg_tape_close(struct dg_tape *t)
{
    if (!t)
        return;
    struct dg_backend *be = t->train->be;
    dg_position_table_close(&t->positions, be);
    be->ops->buf_free(be, t->buf);
    be->ops->buf_free(be, t->wide);
    free(t->host);
    free(t);
}

/* Sum up the sizes of these pairs; DG_ELIMIT if a length is outside its limits. */
static int measure(const struct dg_tape *t, const struct dg_micro_batch *p, struct dg_tape_sizes *n,
    struct dg_error *err)
{
    *n = (struct dg_tape_sizes){0};
    for (size_t i = 0; i < p->n; i++) {
        size_t s = p->source_len[i], q = p->target_len[i];
        /* A pair without tokens has no row to take a loss from; one beyond the table has no
         * position. */
        if (s < 1 || q < 1 || s > t->positions.n || q > t->positions.n)
            return dg_error_set(err, DG_ELIMIT,
                "a pair of %zu and %zu pieces does not fit 1 to %u positions", s, q,
                t->positions.n);
        /* Rows add up; attention's probabilities grow with the square of a sentence's length. */
        n->S += s;
        n->T += q;
        n->self_s += s * s;
        n->self_t += q * q;
        n->cross += q * s;
    }
    n->chunk = chunk_rows(&t->config, n->T, t->train->ops->loss_bytes);
    return 0;
}

/* Host arrays for n pairs of S + T pieces, in one allocation. */
static int fit_host(struct dg_tape *t, size_t n, size_t S, size_t T, struct dg_error *err)
{
    size_t segs = 3 * n * sizeof(struct dg_attn_seg), rows = (S + T) * 3 * sizeof(int32_t);
    /* A quarter more than asked for: batches grow a little all the time. Nothing is copied, because
     * fill() writes all of it anew. */
    if (segs + rows > t->host_bytes) {
        void *p = malloc(segs + rows + (segs + rows) / 4);
        if (!p)
            return dg_error_set(err, DG_ENOMEM, "no memory for a micro-batch of %zu pairs", n);
        free(t->host);
        t->host = p;
        t->host_bytes = segs + rows + (segs + rows) / 4;
    }
    /* Three segments a pair, then three numbers a row. */
    struct dg_attn_seg *s = t->host;
    t->source.self = s;
    t->target.self = s + n;
    t->cross = s + 2 * n;
    int32_t *at = (int32_t *)(s + 3 * n);
    t->source.ids = at;
    t->source.pos = at + S;
    t->source.row_key = (uint32_t *)(at + 2 * S);
    at += 3 * S;
    t->target.ids = at;
    t->target.pos = at + T;
    t->target.row_key = (uint32_t *)(at + 2 * T);
    return 0;
}

/* Dropout's key of a row: which sentence, which side, which position. */
static uint32_t row_key(uint64_t sentence, uint32_t side, uint32_t position)
{
    uint32_t h = dg_dropout_hash((uint32_t)sentence, (uint32_t)(sentence >> 32) + 1);
    return dg_dropout_hash(dg_dropout_hash(h, 0x5eed + side), position);
}

/* Fill in a sentence's rows of one side, from row `at` on: ids (the decoder's begin with `first`
 * and are shifted by one), positions, keys. */
static void fill_side(struct dg_tape_side *side, size_t at, const int32_t *ids, uint32_t len,
    uint64_t sentence, const int32_t *first)
{
    for (uint32_t i = 0; i < len; i++) {
        /* The decoder reads the label before the one that it has to predict. */
        side->ids[at + i] = !first ? ids[i] : i == 0 ? *first : ids[i - 1];
        side->pos[at + i] = (int32_t)i;
        side->row_key[at + i] = row_key(sentence, first ? 1 : 0, i);
    }
}

static void fill(struct dg_tape *t, const struct dg_micro_batch *p)
{
    const size_t H = t->config.H;
    size_t s = 0, q = 0, self_s = 0, self_t = 0, cross = 0;
    for (size_t i = 0; i < p->n; i++) {
        /* s and q are the first rows of pair i, the others where its probabilities begin. */
        uint32_t ns = p->source_len[i], nt = p->target_len[i];
        /* Keyed by the sentence's number in the whole training set: whatever batch, rank or thread
         * it is in, the same elements drop out. */
        fill_side(&t->source, s, p->source + s, ns, p->index[i], NULL);
        fill_side(&t->target, q, p->target + q, nt, p->index[i], &t->config.start);
        t->source.self[i] =
            (struct dg_attn_seg){(uint32_t)s, ns, ns, (uint32_t)s, NULL, false, self_s};
        t->target.self[i] =
            (struct dg_attn_seg){(uint32_t)q, nt, nt, (uint32_t)q, NULL, true, self_t};
        t->cross[i] = (struct dg_attn_seg){(uint32_t)q, nt, ns, (uint32_t)s, NULL, false, cross};
        /* Each sentence's probabilities are [H,n_q,n_k], after those of the sentences before it. */
        s += ns;
        q += nt;
        self_s += H * ns * ns;
        self_t += H * nt * nt;
        cross += H * nt * ns;
    }
}

typedef int new_buffer(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err);

/* Make room for at least `need` elements in buf[n], with some to spare. An old buffer is freed
 * before the new one is made: both would not fit on a full device. */
static int fit_buffer(struct dg_tape *t, new_buffer *make, size_t need, struct dg_buf **buf,
    size_t *n, struct dg_error *err)
{
    struct dg_backend *be = t->train->be;
    if (need <= *n)
        return 0;
    be->ops->buf_free(be, *buf);
    *buf = NULL;
    int rc = make(be, with_spare(need), buf, err);
    *n = rc ? 0 : with_spare(need);
    return rc;
}

int dg_tape_load(struct dg_tape *t, const struct dg_micro_batch *pairs, struct dg_error *err)
{
    const struct dg_ops *ops = t->train->be->ops;
    struct dg_tape_sizes n;
    int rc;
    if ((rc = measure(t, pairs, &n, err)) || (rc = fit_host(t, pairs->n, n.S, n.T, err)))
        return rc;
    /* Lay out twice: the buffers may move when they grow. */
    struct dg_tape_cursor need = dg_tape_lay_out(t, &n);
    /* On an error the slots point into freed memory: the caller may load again, not run. */
    if ((rc = fit_buffer(t, ops->buf_new, need.at, &t->buf, &t->buf_n, err)) ||
        (rc = fit_buffer(t, ops->buf_new_wide, need.wide_at, &t->wide, &t->wide_n, err)))
        return rc;
    dg_tape_lay_out(t, &n);
    t->n = pairs->n;
    t->chunk = n.chunk;
    t->source.M = n.S;
    t->target.M = n.T;
    t->labels = pairs->target;
    fill(t, pairs);
    return 0;
}
