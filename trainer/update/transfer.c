#include "trainer/update/transfer.h"

#include "base/buffer.h"
#include "tokenizer/word_mark.h"
#include "trainer/data/prepared.h"
#include "trainer/update/init.h"

#include <stdlib.h>
#include <string.h>

struct side {
    struct dg_tokenizer *old, *new;
};

static int open_side(struct side *s, const char *spm, const char *vocab, const char *prepared_dir,
    const char *name, struct dg_error *err)
{
    int rc = dg_tokenizer_open(spm, vocab, &s->old, err);
    return rc ? rc : dg_prepared_tokenizer(prepared_dir, name, &s->new, err);
}

/* The piece as text, with spaces for its word marks. */
static void text_of(const char *piece, struct dg_buffer *out)
{
    dg_buffer_reset(out);
    for (const char *p = piece; *p;) {
        const size_t mark = dg_word_mark(p);
        dg_buffer_add(out, mark ? " " : p, 1);
        p += mark ? mark : 1;
    }
}

/* Write the old ids that spell a new piece to ids[cap]. Return how many. */
static size_t spell(const struct side *s, const char *piece, struct dg_buffer *text, int32_t *ids,
    size_t cap, struct dg_error *err)
{
    struct dg_token *tokens = NULL;
    size_t n = 0, used = 0;
    if (dg_tokenizer_has_piece(s->old, piece)) {
        ids[0] = dg_tokenizer_id(s->old, piece);
        return 1;
    }
    text_of(piece, text);
    if (text->failed || !dg_tokenizer_has_text(s->old) ||
        dg_tokenizer_encode(s->old, text->data ? text->data : "", text->len, &tokens, &n, err))
        n = 0;
    for (size_t i = 0; i < n && used < cap; i++)
        /* The mark that the old tokenizer puts before every text is not part of the piece. */
        if (tokens[i].id != dg_tokenizer_unk(s->old) &&
            !(i == 0 && n > 1 &&
                strcmp(dg_tokenizer_piece(s->old, tokens[i].id), DG_WORD_MARK) == 0))
            ids[used++] = tokens[i].id;
    free(tokens);
    return used;
}

/* Fill x[N,K], one row per new piece, with means of old rows (by_column: columns). Rows of pieces
 * that no old piece spells keep their random values. */
static int carry_over(const struct side *s, const struct dg_tensor *t, bool by_column, uint32_t N,
    uint32_t K, float *x, struct dg_error *err)
{
    const struct dg_stored *old = dg_init_best_rows(t);
    struct dg_buffer text;
    int32_t ids[64];
    dg_buffer_init(&text);
    for (uint32_t v = 0; v < N && !(err && err->code); v++) {
        size_t n = spell(s, dg_tokenizer_piece(s->new, (int32_t)v), &text, ids, 64, err);
        for (uint32_t k = 0; k < K && n; k++) {
            float sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += by_column ? dg_init_element(old, t->shape[1], (size_t)ids[i])
                                 : dg_init_element(old, K, (size_t)ids[i] * K + k);
            x[(size_t)v * K + k] = sum / (float)n;
        }
    }
    dg_buffer_deinit(&text);
    return err ? err->code : 0;
}

/* The side for whose vocabulary a parameter has a row per piece; NULL: none. */
static const struct side *side_of(const struct dg_param_info *info, const struct side sides[2])
{
    if (info->offset == offsetof(struct dg_params, src_embed))
        return &sides[0];
    if (info->offset == offsetof(struct dg_params, tgt_embed) ||
        info->offset == offsetof(struct dg_params, out_w) ||
        info->offset == offsetof(struct dg_params, out_b))
        return &sides[1];
    return NULL;
}

static int fill(struct dg_param_block *b, size_t i, const struct dg_init_from *from,
    const struct side sides[2], uint64_t seed, struct dg_error *err)
{
    struct dg_param_info info;
    char name[64];
    dg_params_info(&b->config, i, &info);
    dg_init_origin(from, &b->config, info.name, name);
    const struct dg_tensor *t = dg_weights_find(from->weights, name);
    const struct side *side = side_of(&info, sides);
    const bool bias = info.offset == offsetof(struct dg_params, out_b);
    const size_t n = (size_t)info.N * info.K;
    int rc = 0;
    if (!t || !dg_init_best_rows(t) || (!side && (t->shape[0] != info.N || t->shape[1] != info.K)))
        return dg_error_set(err, DG_EFORMAT, "weights: tensor %s [%u,%u] is missing or misshapen",
            name, info.N, info.K);
    float *x = dg_init_tensor(&b->config, i, seed);
    if (side)
        rc = carry_over(side, t, bias, bias ? info.K : info.N, bias ? 1 : info.K, x, err);
    else
        for (size_t e = 0; e < n; e++)
            x[e] = dg_init_element(dg_init_best_rows(t), info.K, e);
    if (!rc)
        b->train->ops->block_write(b->train, b->data + dg_param_block_offset(&b->config, i), x, n);
    free(x);
    return rc;
}

int dg_transfer_init(struct dg_param_block *b, const struct dg_bundle *bundle,
    const struct dg_init_from *from, const char *prepared_dir, uint64_t seed, struct dg_error *err)
{
    struct side sides[2] = {{0}};
    int rc = open_side(&sides[0], dg_bundle_source_spm(bundle), dg_bundle_source_vocab(bundle),
        prepared_dir, "source", err);
    if (!rc)
        rc = open_side(&sides[1], dg_bundle_target_spm(bundle), dg_bundle_target_vocab(bundle),
            prepared_dir, "target", err);
    for (size_t i = 0; i < dg_params_count(&b->config) && !rc; i++)
        rc = fill(b, i, from, sides, seed, err);
    for (int s = 0; s < 2; s++) {
        dg_tokenizer_close(sides[s].old);
        dg_tokenizer_close(sides[s].new);
    }
    return rc;
}
