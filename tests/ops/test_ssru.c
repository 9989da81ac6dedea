/* ssru and add_norm's sum against loops in double: teacher forcing in pieces, cached steps with
 * permuted states, rows of every length, one thread and two. */
#include "tests/ops/ops.h"

/* c = σ(f) before + (1 - σ(f)) x */
static double state_after(double x, double f, double before)
{
    double keep = 1 / (1 + exp(-f));
    return keep * before + (1 - keep) * x;
}

/* Makes rows of states, which are fp32 whatever a device computes in. */
static struct dg_rows wide_rows(struct dg_backend *be, const float *src, size_t M, size_t D)
{
    struct dg_rows r = {NULL, 0, D};
    if (be->ops->buf_new_wide(be, M * D, &r.buf, NULL))
        fail_msg("no memory for states");
    if (src)
        be->ops->write(be, src, r, M, D);
    return r;
}

/* Pieces of 1, 2, 3 ... rows; then the same rows as cached steps, one piece after another: the same
 * bits. */
static void check_pieces(struct dg_backend *be, const char *isa, size_t n, size_t D)
{
    const size_t M = n * (n + 1) / 2;
    float *z = ops_floats(M * 2 * D, D), *y = ops_memory(M * D, sizeof *y),
          *stepped = ops_memory(M * D, sizeof *stepped);
    struct dg_attn_seg *segs = ops_memory(n, sizeof *segs);
    for (size_t i = 0; i < M * 2 * D; i++)
        z[i] *= i % 7 ? 2 : 100; /* saturated gates, too */
    struct dg_rows zr = ops_rows(be, z, M, 2 * D, 3, 2 * D + 5),
                   zs = ops_rows(be, z, M, 2 * D, 3, 2 * D + 5),
                   yr = ops_rows(be, NULL, M, D, 1, D + 1), ys = ops_rows(be, NULL, M, D, 0, D);
    struct dg_rows states = wide_rows(be, NULL, 2, D);
    uint32_t q0 = 0;
    for (size_t i = 0; i < n; i++) {
        segs[i] = (struct dg_attn_seg){.q0 = q0, .n_q = (uint32_t)i + 1};
        q0 += (uint32_t)i + 1;
    }
    struct dg_ssru op = {.segs = segs, .n_segs = n};
    be->ops->ssru(be, &op, zr, yr, M, D);
    be->ops->read(be, yr, M, D, y);
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < D; d++) {
            double c = 0;
            for (size_t m = segs[i].q0; m < (size_t)segs[i].q0 + segs[i].n_q; m++) {
                const float *row = z + m * 2 * D;
                c = state_after(row[d], row[D + d], c);
                ops_near("ssru", isa, m * D + d, y[m * D + d], c < 0 ? 0 : c,
                    EPS * 200 * 8); /* values up to 200, an exponential of a few EPS */
            }
        }
    for (size_t i = 0; i < n; i++)
        for (uint32_t t = 0; t < segs[i].n_q; t++) {
            const size_t m = segs[i].q0 + t;
            const int32_t from = t ? (int32_t)((t - 1) % 2) : -1, to = (int32_t)(t % 2);
            struct dg_ssru step = {.states = states, .from = &from, .to = &to};
            struct dg_rows z1 = dg_rows_from(zs, m), y1 = dg_rows_from(ys, m);
            be->ops->ssru(be, &step, z1, y1, 1, D);
        }
    be->ops->read(be, ys, M, D, stepped);
    assert_memory_equal(y, stepped, M * D * sizeof *y);
    be->ops->buf_free(be, zr.buf);
    be->ops->buf_free(be, zs.buf);
    be->ops->buf_free(be, yr.buf);
    be->ops->buf_free(be, ys.buf);
    be->ops->buf_free(be, states.buf);
    free(z), free(y), free(stepped), free(segs);
}

static void run_pieces(struct dg_backend *be, const char *isa)
{
    const size_t widths[] = {1, 2, 7, 8, 15, 16, 17, 33, 100, 256, 384};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        check_pieces(be, isa, 5, widths[i]);
    check_pieces(be, isa, 40, 256);
}

static void pieces(void **state)
{
    (void)state;
    ops_each_isa("ssru", run_pieces);
}

/* Rows whose parents are each other's neighbours: every row reads the old states. */
static void run_step(struct dg_backend *be, const char *isa)
{
    enum { M = 300, D = 64 };
    float *z = ops_floats(M * 2 * D, 1), *c = ops_floats(2 * M * D, 2),
          *y = ops_memory(M * D, sizeof *y);
    int32_t from[M], to[M];
    struct dg_rows zr = ops_rows(be, z, M, 2 * D, 0, 2 * D), yr = ops_rows(be, NULL, M, D, 0, D),
                   states = wide_rows(be, c, 2 * M, D);
    for (int m = 0; m < M; m++) {
        from[m] = m % 11 ? 2 * ((m * 7) % M) : -1;
        to[m] = 2 * m + 1;
    }
    struct dg_ssru op = {.states = states, .from = from, .to = to};
    be->ops->ssru(be, &op, zr, yr, M, D);
    be->ops->read(be, yr, M, D, y);
    for (size_t m = 0; m < M; m++)
        for (size_t d = 0; d < D; d++) {
            double before = from[m] < 0 ? 0 : c[(size_t)from[m] * D + d],
                   after = state_after(z[m * 2 * D + d], z[m * 2 * D + D + d], before);
            ops_near("ssru step", isa, m * D + d, y[m * D + d], after < 0 ? 0 : after, EPS * 16);
        }
    be->ops->buf_free(be, zr.buf);
    be->ops->buf_free(be, yr.buf);
    be->ops->buf_free(be, states.buf);
    free(z), free(c), free(y);
}

static void step(void **state)
{
    (void)state;
    ops_each_isa("ssru step", run_step);
}

/* add_norm's sum: r + drop(x) exactly, and the norm is that of the sum. */
static void check_sum(struct dg_backend *be, const char *isa, size_t D, float p)
{
    enum { M = 40 };
    uint32_t keys[M];
    for (size_t m = 0; m < M; m++)
        keys[m] = (uint32_t)(m * 2654435761u);
    const struct dg_dropout drop = {p, 4711, keys};
    float *x = ops_floats(M * D, 1), *r = ops_floats(M * D, 2), *one = ops_memory(D, sizeof *one),
          *zero = ops_memory(D, sizeof *zero), *sum = ops_memory(M * D, sizeof *sum),
          *y = ops_memory(M * D, sizeof *y), *want = ops_memory(M * D, sizeof *want);
    for (size_t i = 0; i < D; i++)
        one[i] = 1;
    struct dg_rows xr = ops_rows(be, x, M, D, 0, D), rr = ops_rows(be, r, M, D, 0, D + 3),
                   yr = ops_rows(be, NULL, M, D, 0, D), wr = ops_rows(be, NULL, M, D, 0, D);
    struct dg_norm op = {.gain = ops_weight(be, DG_USE_VECTOR, 1, D, one, false),
        .bias = ops_weight(be, DG_USE_VECTOR, 1, D, zero, false),
        .eps = 1e-5f,
        .drop = p > 0 ? &drop : NULL};
    be->ops->add_norm(be, &op, xr, rr, wr, M, D);
    op.sum = rr;
    be->ops->add_norm(be, &op, xr, rr, yr, M, D);
    be->ops->read(be, rr, M, D, sum);
    be->ops->read(be, yr, M, D, y);
    be->ops->read(be, wr, M, D, want);
    for (size_t i = 0; i < M * D; i++) {
        const bool kept = dg_dropout_keep(keys[i / D] ^ drop.site, (uint32_t)(i % D), p);
        const float dropped = kept ? x[i] * (1.0f / (1.0f - p)) : 0;
        ops_near("add_norm's sum", isa, i, sum[i], r[i] + dropped, 0);
    }
    assert_memory_equal(y, want, M * D * sizeof *y);
    be->ops->weight_free(be, (struct dg_weight *)op.gain);
    be->ops->weight_free(be, (struct dg_weight *)op.bias);
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, rr.buf);
    be->ops->buf_free(be, yr.buf);
    be->ops->buf_free(be, wr.buf);
    free(x), free(r), free(one), free(zero), free(sum), free(y), free(want);
}

/* Rows that a device holds in registers, and longer ones. */
static void run_sum(struct dg_backend *be, const char *isa)
{
    const size_t widths[] = {1, 100, 600, 1500};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        /* dropout is for training, which CPUs have */
        for (int drop = 0; drop <= be->ops->on_host; drop++)
            check_sum(be, isa, widths[i], drop ? 0.25f : 0);
}

static void sum_of_add_norm(void **state)
{
    (void)state;
    ops_each_isa("add_norm's sum", run_sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces), cmocka_unit_test(step), cmocka_unit_test(sum_of_add_norm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
