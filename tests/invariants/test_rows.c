/* Row stability (contract 1): a row's bits depend on the row and the weights alone. Every matrix
 * product of the base and big models, each instruction set with fp32 kernels of its own, M = 1 ..
 * 130, one and two threads: each row equals the M = 1 result bit for bit. Then LayerNorm, attention
 * and top-k under other neighbours, places, strides and alignments. Rows are drawn from a pool of
 * POOL distinct ones, so that M = 1 has to be computed once per pool row; a row's place in the
 * batch changes from one M to the next. */
#include "tests/ops/ops.h"
#include "tests/sanitized.h"

struct shape {
    size_t N, K;
};

static const struct shape small_shapes[] = {{512, 512}, {1024, 512}, {1536, 512}, {2048, 512},
    {512, 2048}, {1024, 1024}, {2048, 1024}, {3072, 1024}, {4096, 1024}, {1024, 4096}, {40, 24},
    {77, 300}};
static const struct shape vocab_shapes[] = {
    {32000, 512}, {37000, 512}, {32000, 1024}, {37000, 1024}};

enum { POOL = 131, M_MAX = 130 };

struct product {
    struct dg_backend *be;
    const char *isa;
    struct shape s;
    size_t n_pool;
    struct dg_weight *w;
    float *x, *want; /* [n_pool,K], [n_pool,N]: results of each row alone */
};

/* Computes y of M rows: row m is pool row (first + m * 7) % n_pool; rows are ld apart, starting at
 * `offset`. */
static void run_batch(const struct product *p, size_t M, size_t first, size_t offset)
{
    size_t N = p->s.N, K = p->s.K, ldx = K + offset % 3, ldy = N + offset % 5;
    float *x = ops_memory(M * K, sizeof *x), *y = ops_memory(M * N, sizeof *y);
    for (size_t m = 0; m < M; m++)
        memcpy(x + m * K, p->x + (first + m * 7) % p->n_pool * K, K * sizeof *x);
    struct dg_rows xr = ops_rows(p->be, x, M, K, offset, ldx),
                   yr = ops_rows(p->be, NULL, M, N, offset, ldy);
    p->be->ops->linear(p->be, &(struct dg_linear){.w = p->w}, xr, yr, M);
    p->be->ops->read(p->be, yr, M, N, y);
    for (size_t m = 0; m < M; m++)
        if (memcmp(y + m * N, p->want + (first + m * 7) % p->n_pool * N, N * sizeof *y))
            fail_msg("%s: [%zu,%zu], M = %zu: row %zu differs from the row alone", p->be->name, N,
                K, M, m);
    p->be->ops->buf_free(p->be, xr.buf);
    p->be->ops->buf_free(p->be, yr.buf);
    free(x), free(y);
}

static void product_init(
    struct product *p, struct dg_backend *be, const char *isa, struct shape s, size_t n_pool)
{
    *p = (struct product){be, isa, s, n_pool, NULL, ops_floats(n_pool * s.K, s.N), NULL};
    p->want = ops_memory(n_pool * s.N, sizeof *p->want);
    float *w = ops_floats(s.N * s.K, s.K);
    p->w = ops_weight(be, DG_USE_MATRIX, s.N, s.K, w, false);
    free(w);
    for (size_t i = 0; i < n_pool; i++) {
        struct dg_rows xr = ops_rows(be, p->x + i * s.K, 1, s.K, 0, s.K),
                       yr = ops_rows(be, NULL, 1, s.N, 0, s.N);
        be->ops->linear(be, &(struct dg_linear){.w = p->w}, xr, yr, 1);
        be->ops->read(be, yr, 1, s.N, p->want + i * s.N);
        be->ops->buf_free(be, xr.buf);
        be->ops->buf_free(be, yr.buf);
    }
}

static void product_deinit(struct product *p)
{
    p->be->ops->weight_free(p->be, p->w);
    free(p->x), free(p->want);
}

/* Computes the rows alone with one thread, batches with one and two (for the largest matrices: one
 * or the other). */
static void run_both(const char *isa, struct shape s, size_t n_pool, size_t step)
{
    struct dg_backend *be[2] = {ops_open(isa, 1), ops_open(isa, 2)};
    struct product p;
    product_init(&p, be[0], isa, s, n_pool);
    for (size_t M = 1; M <= M_MAX; M += step)
        for (size_t t = 0; t < 2; t++) {
            if (s.N * s.K > 19000000 && M / step % 2 != t)
                continue;
            p.be = be[t];
            run_batch(&p, M, M * 13 + t, t ? 0 : M % 17);
        }
    p.be = be[0];
    product_deinit(&p);
    dg_cpu_close(be[0]);
    dg_cpu_close(be[1]);
}

/* Unoptimised and sanitised builds are up to 50 times slower: they test every 43rd M of the smaller
 * shapes. */
#if !defined(__OPTIMIZE__) || SANITIZED
enum { SLOW = 1, STEP = 43 };
#else
enum { SLOW = 0, STEP = 1 };
#endif

static void test_products(void **state)
{
    (void)state;
    const char *const *isas = dg_cpu_isas();
    for (size_t i = 0; isas[i]; i++) {
        if (i > 0 && ops_kernels(isas[i]).isa == ops_kernels(isas[i - 1]).isa) {
            printf("row stability of products: %s has the kernels of %s\n", isas[i], isas[i - 1]);
            continue;
        }
        bool plain =
            !strcmp(isas[i], "generic"); /* 10 times slower, and its rows do not share a tile */
        for (size_t s = 0; s < sizeof small_shapes / sizeof *small_shapes; s++)
            if (!SLOW || small_shapes[s].N * small_shapes[s].K <= (plain ? 100000 : 1100000))
                run_both(isas[i], small_shapes[s], plain || SLOW ? 7 : POOL, plain ? 43 : STEP);
        for (size_t s = 0; s < (plain || SLOW ? 0 : sizeof vocab_shapes / sizeof *vocab_shapes);
             s++)
            run_both(isas[i], vocab_shapes[s], 11, 1);
        printf("row stability of products: %s ran\n", isas[i]);
    }
}

/* Compares rows of a batch in LayerNorm, at other places and alignments, with each row alone. */
static void run_norm(struct dg_backend *be, const char *isa)
{
    const size_t sizes[] = {512, 1024, 100, 13};
    for (size_t s = 0; s < 4; s++)
        for (size_t offset = 0; offset < 17; offset++) {
            enum { M = 300 };
            size_t D = sizes[s];
            float *x = ops_floats(M * D, 1), *r = ops_floats(M * D, 2), *g = ops_floats(D, 3),
                  *b = ops_floats(D, 4);
            float *all = ops_memory(M * D, sizeof *all), *one = ops_memory(D, sizeof *one);
            struct dg_norm op = {.gain = ops_weight(be, DG_USE_VECTOR, 1, D, g, false),
                .bias = ops_weight(be, DG_USE_VECTOR, 1, D, b, false),
                .eps = 1e-5f};
            struct dg_rows xr = ops_rows(be, x, M, D, offset, D + offset),
                           rr = ops_rows(be, r, M, D, 3, D);
            struct dg_rows yr = ops_rows(be, NULL, M, D, 5, D + 1);
            be->ops->add_norm(be, &op, xr, rr, yr, M, D);
            be->ops->read(be, yr, M, D, all);
            for (size_t m = 0; m < M; m += 37) {
                be->ops->write(be, x + m * D, (struct dg_rows){xr.buf, 0, D}, 1, D);
                be->ops->write(be, r + m * D, (struct dg_rows){rr.buf, 1, D}, 1, D);
                be->ops->add_norm(be, &op, (struct dg_rows){xr.buf, 0, D},
                    (struct dg_rows){rr.buf, 1, D}, (struct dg_rows){yr.buf, 0, D}, 1, D);
                be->ops->read(be, (struct dg_rows){yr.buf, 0, D}, 1, D, one);
                if (memcmp(one, all + m * D, D * sizeof *one))
                    fail_msg("add_norm, %s: row %zu of %zu elements differs from the row alone",
                        isa, m, D);
            }
            be->ops->weight_free(be, (struct dg_weight *)op.gain);
            be->ops->weight_free(be, (struct dg_weight *)op.bias);
            be->ops->buf_free(be, xr.buf);
            be->ops->buf_free(be, rr.buf);
            be->ops->buf_free(be, yr.buf);
            free(x), free(r), free(g), free(b), free(all), free(one);
        }
}

static void test_norm(void **state)
{
    (void)state;
    ops_each_isa("row stability of add_norm", run_norm);
}

struct heads {
    uint32_t H, Dk, Dv;
};

/* Runs n_q queries against n_k keys in one causal or plain call, then each query alone: keys copied
 * to scattered slots, only those it sees, with other rows around it in the call. */
static void check_attention(
    struct dg_backend *be, const char *isa, struct heads d, uint32_t n_q, uint32_t n_k, bool causal)
{
    size_t kn = (size_t)d.H * d.Dk, vn = (size_t)d.H * d.Dv, places = 3 * (size_t)n_k + 8;
    float *q = ops_floats(n_q * kn, 1), *k = ops_floats(n_k * kn, 2), *v = ops_floats(n_k * vn, 3);
    float *all = ops_memory(n_q * vn, sizeof *all), *one = ops_memory(vn, sizeof *one);
    int32_t *slots = ops_memory(n_k, sizeof *slots);
    for (uint32_t j = 0; j < n_k; j++)
        slots[j] = (int32_t)((j * 2 + 5) % places); /* not consecutive, each once */
    struct dg_rows qr = ops_rows(be, q, n_q, kn, 3, kn + 1),
                   out = ops_rows(be, NULL, n_q + 2, vn, 1, vn);
    struct dg_attn_seg seg = {0, n_q, n_k, 0, NULL, causal, 0};
    struct dg_attention op = {d.H, d.Dk, d.Dv, DG_ATTN_SEGS, &seg, 1,
        .k = ops_rows(be, k, n_k, kn, 5, kn + 7), .v = ops_rows(be, v, n_k, vn, 2, vn)};
    be->ops->attention(be, &op, qr, out);
    be->ops->read(be, out, n_q, vn, all);
    struct dg_rows ks = ops_rows(be, NULL, places, kn, 0, kn),
                   vs = ops_rows(be, NULL, places, vn, 7, vn + 3);
    struct dg_rows kin = ops_rows(be, k, n_k, kn, 0, kn), vin = ops_rows(be, v, n_k, vn, 0, vn);
    be->ops->kv_write(be, kin, ks, slots, n_k, kn);
    be->ops->kv_write(be, vin, vs, slots, n_k, vn);
    for (uint32_t i = 0; i < n_q; i++) {
        uint32_t seen = causal ? n_k - n_q + i + 1 : n_k;
        struct dg_attn_seg segs[3] = {{(i + 1) % n_q, 1, 1 + i % n_k, 0, slots, false, 0},
            {i, 1, seen, 0, slots, i % 2, 0}, {(i + 2) % n_q, 1, 1, 0, slots, false, 0}};
        struct dg_attention step = {
            d.H, d.Dk, d.Dv, DG_ATTN_SEGS, segs, n_q > 2 ? 3 : 2, .k = ks, .v = vs};
        be->ops->attention(be, &step, qr, out);
        be->ops->read(be, dg_rows_from(out, i), 1, vn, one);
        if (n_q > 2 && memcmp(one, all + i * vn, vn * sizeof *one))
            fail_msg("attention, %s: query %u of %u against %u keys (H %u, Dk %u, Dv %u, causal "
                     "%d) differs alone",
                isa, i, n_q, n_k, d.H, d.Dk, d.Dv, causal);
    }
    be->ops->buf_free(be, qr.buf);
    be->ops->buf_free(be, out.buf);
    be->ops->buf_free(be, op.k.buf);
    be->ops->buf_free(be, op.v.buf);
    be->ops->buf_free(be, ks.buf);
    be->ops->buf_free(be, vs.buf);
    be->ops->buf_free(be, kin.buf);
    be->ops->buf_free(be, vin.buf);
    free(q), free(k), free(v), free(all), free(one), free(slots);
}

static void run_attention(struct dg_backend *be, const char *isa)
{
    static const struct heads all[] = {
        {8, 64, 64}, {16, 64, 64}, {1, 512, 512}, {4, 16, 64}, {3, 7, 11}};
    static const uint32_t sizes[][2] = {{3, 3}, {4, 27}, {8, 8}, {27, 27}, {33, 70}, {9, 130}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int causal = 0; causal < 2; causal++)
                check_attention(be, isa, all[i], sizes[s][0], sizes[s][1], causal);
    check_attention(
        be, isa, (struct heads){1, 8, 8}, 5, 4500, true); /* more keys than are held at once */
}

static void test_attention(void **state)
{
    (void)state;
    ops_each_isa("row stability of attention", run_attention);
}

/* Compares a row's top-k alone and among others with another k_max, place and alignment. */
static void run_topk(struct dg_backend *be, const char *isa)
{
    enum { M = 9, K = 8 };
    const size_t sizes[] = {32000, 37000, 999};
    for (size_t s = 0; s < 3; s++) {
        size_t V = sizes[s];
        float *x = ops_floats(M * V, V), all[M * K], one[K];
        int32_t all_ids[M * K], one_ids[K];
        uint32_t k[M];
        for (size_t m = 0; m < M; m++)
            k[m] = K;
        struct dg_rows xr = ops_rows(be, x, M, V, 1, V + 1);
        be->ops->topk(be, &(struct dg_topk){V, K, k, NULL, all, all_ids, NULL}, xr, M);
        for (size_t m = 0; m < M; m++) {
            struct dg_rows row = ops_rows(be, x + m * V, 1, V, m, V);
            uint32_t few = 1 + (uint32_t)m % K;
            be->ops->topk(be, &(struct dg_topk){V, few, &few, NULL, one, one_ids, NULL}, row, 1);
            if (memcmp(one, all + m * K, few * sizeof *one) ||
                memcmp(one_ids, all_ids + m * K, few * sizeof *one_ids))
                fail_msg("topk, %s: row %zu of %zu logits differs alone", isa, m, V);
            be->ops->topk(be,
                &(struct dg_topk){V, K, (uint32_t[]){1}, one_ids, one, (int32_t[K]){0}, NULL}, row,
                1);
            if (memcmp(one, all + m * K, sizeof *one))
                fail_msg("topk, %s: row %zu has another log-probability when it is forced", isa, m);
            be->ops->buf_free(be, row.buf);
        }
        be->ops->buf_free(be, xr.buf);
        free(x);
    }
}

static void test_topk(void **state)
{
    (void)state;
    ops_each_isa("row stability of topk", run_topk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_norm),
        cmocka_unit_test(test_attention), cmocka_unit_test(test_topk),
        cmocka_unit_test(test_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
