/* Contract 1 for attention on a device: a query's result has the same bits alone as among others,
 * over slots as over packed rows, and whether or not rows start at multiples of 16 bytes (where
 * loads are wide); in every precision, for heads with a kernel of their own and for others.
 * Probabilities have the same bits whether a chunk's weights are kept or its scores are computed
 * again. */
#include "tests/ops/ops.h"

#include "tests/emu/cuda.h"

enum { H = 2, LONGEST = 80, PLACES = 2 * LONGEST + 7 };

static struct dg_backend *be;

/* M rows of N numbers, `offset` elements into their buffer and `gap` between them. */
static struct dg_rows rows(size_t M, size_t N, size_t offset, size_t gap, uint64_t seed)
{
    float *x = ops_floats(M * N, seed);
    for (size_t i = 0; i < M * N; i++)
        x[i] *= 2;
    const struct dg_rows r = ops_rows(be, x, M, N, offset, N + gap);
    free(x);
    return r;
}

static void free_rows(const struct dg_rows *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        be->ops->buf_free(be, r[i].buf);
}

/* Runs all queries in one call, over rows off 16-byte boundaries; then each query alone over slots
 * of aligned rows; then once more in groups of a few. */
static void check_queries(uint32_t Dk, uint32_t Dv, uint32_t n_q, uint32_t n_k, bool causal)
{
    const size_t kn = H * Dk, vn = H * Dv;
    float *all = malloc(n_q * vn * sizeof *all), *one = malloc(n_q * vn * sizeof *one);
    int32_t slots[LONGEST];
    struct dg_rows r[] = {rows(n_q, kn, 3, 1, 1), rows(n_k, kn, 5, 7, 2), rows(n_k, vn, 2, 0, 3),
        rows(n_q, vn, 1, 2, 4), rows(n_q, kn, 0, 0, 1), rows(PLACES, kn, 0, 0, 5),
        rows(PLACES, vn, 8, 8, 6), rows(n_k, kn, 0, 0, 2), rows(n_k, vn, 0, 0, 3),
        rows(n_q, vn, 0, 0, 7)};
    const struct dg_attn_seg seg = {0, n_q, n_k, 0, NULL, causal, 0};
    struct dg_attention op = {H, Dk, Dv, DG_ATTN_SEGS, &seg, 1, .k = r[1], .v = r[2]};
    be->ops->attention(be, &op, r[0], r[3]);
    be->ops->read(be, r[3], n_q, vn, all);
    for (uint32_t j = 0; j < n_k; j++)
        slots[j] = (int32_t)((j * 2 + 5) % PLACES); /* not consecutive, each once */
    be->ops->kv_write(be, r[7], r[5], slots, n_k, kn);
    be->ops->kv_write(be, r[8], r[6], slots, n_k, vn);
    for (uint32_t few = 1; few <= 5; few += 4) {
        struct dg_attn_seg segs[LONGEST];
        uint32_t n = 0;
        for (uint32_t i = 0; i < n_q; i += few) {
            const uint32_t queries = n_q - i < few ? n_q - i : few;
            const uint32_t seen = causal ? n_k - n_q + i + queries : n_k;
            segs[n++] = (struct dg_attn_seg){i, queries, seen, 0, slots, causal, 0};
        }
        struct dg_attention parts = {H, Dk, Dv, DG_ATTN_SEGS, segs, n, .k = r[5], .v = r[6]};
        be->ops->attention(be, &parts, r[4], r[9]);
        be->ops->read(be, r[9], n_q, vn, one);
        for (size_t i = 0; i < n_q * vn; i++)
            if (memcmp(one + i, all + i, sizeof *one))
                fail_msg("%s: Dk %u, Dv %u, query %zu of %u over %u keys, causal %d: %g in pieces "
                         "of %u, %g in one",
                    be->name, Dk, Dv, i / vn, n_q, n_k, causal, (double)one[i], few,
                    (double)all[i]);
    }
    free_rows(r, sizeof r / sizeof *r);
    free(all), free(one);
}

static void check_probs(uint32_t Dk, uint32_t Dv, uint32_t n_q, uint32_t n_k, bool causal)
{
    const size_t n = (size_t)H * n_q * n_k;
    uint32_t keys[LONGEST];
    float *kept = malloc(n * sizeof *kept), *again = malloc(n * sizeof *again);
    const struct dg_dropout drop = {0.2f, 9, keys};
    const struct dg_attn_seg seg = {0, n_q, n_k, 0, NULL, causal, 0};
    struct dg_rows r[] = {rows(n_q, H * Dk, 0, 0, 1), rows(n_k, H * Dk, 0, 0, 2),
        rows(n_k, H * Dv, 0, 0, 3), rows(n_q, H * Dv, 0, 0, 4), rows(1, n, 0, 0, 5)};
    struct dg_attention op = {
        H, Dk, Dv, DG_ATTN_SEGS, &seg, 1, .k = r[1], .v = r[2], .probs = r[4]};
    for (uint32_t i = 0; i < n_q; i++)
        keys[i] = 77 * i;
    be->ops->attention(be, &op, r[0], r[3]);
    be->ops->read(be, r[4], 1, n, kept);
    op.drop = &drop;
    be->ops->attention(be, &op, r[0], r[3]);
    be->ops->read(be, r[4], 1, n, again);
    assert_memory_equal(kept, again, n * sizeof *kept);
    free_rows(r, sizeof r / sizeof *r);
    free(kept), free(again);
}

static void check(void **state)
{
    const char *precision = *state;
    static const uint32_t heads[][2] = {{64, 64}, {24, 40}, {64, 32}},
                          sizes[][2] = {{3, 3}, {4, 27}, {17, 32}, {19, 33}, {33, 70}};
    struct dg_error err = {0};
    be = cuda_or_skip(precision);
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int causal = 0; causal < 2; causal++) {
                check_queries(heads[h][0], heads[h][1], sizes[s][0], sizes[s][1], causal);
                check_probs(heads[h][0], heads[h][1], sizes[s][0], sizes[s][1], causal);
            }
    if (be->ops->status(be, &err))
        fail_msg("%s", err.message);
    dg_device_close(be);
}

int main(void)
{
    return cuda_each_precision(check);
}
