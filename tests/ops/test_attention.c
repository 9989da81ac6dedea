/* attention against a double-precision loop: head sizes, packed rows and slots, causal,
 * probabilities, dropout, more keys than are held at once. */
#include "tests/ops/ops.h"

struct dims {
    uint32_t H, Dk, Dv;
};

/* A call of attention: pieces of several lengths over one pool of key and value rows. */
struct call {
    struct dims d;
    /* numbers of segments, query rows, key rows, and elements of probabilities */
    size_t n_segs, M, pool, probs;
    struct dg_attn_seg segs[8];
    float *q, *k, *v;
    int32_t *slots; /* [pool]: a permutation */
    uint32_t *keys; /* [M] */
};

static void call_init(struct call *c, struct dims d, const uint32_t (*lengths)[2], size_t n_segs,
    bool causal, bool slots)
{
    *c = (struct call){.d = d, .n_segs = n_segs};
    for (size_t i = 0; i < n_segs; i++) {
        uint32_t n_q = lengths[i][0], n_k = lengths[i][1];
        c->segs[i] = (struct dg_attn_seg){
            (uint32_t)c->M, n_q, n_k, (uint32_t)c->pool, NULL, causal, c->probs};
        c->M += n_q;
        c->pool += n_k;
        c->probs += (size_t)d.H * n_q * n_k;
    }
    c->q = ops_floats(c->M * d.H * d.Dk, 11);
    c->k = ops_floats(c->pool * d.H * d.Dk, 12);
    c->v = ops_floats(c->pool * d.H * d.Dv, 13);
    for (size_t i = 0; i < c->M * d.H * d.Dk; i++)
        c->q[i] *= 3; /* scores spread over some units, so that the softmax is not flat */
    c->slots = ops_memory(c->pool, sizeof *c->slots);
    c->keys = ops_memory(c->M, sizeof *c->keys);
    uint64_t seed = 5;
    for (size_t i = 0; i < c->pool; i++)
        c->slots[i] = (int32_t)i;
    for (size_t i = c->pool - 1; i > 0; i--) {
        size_t j = ops_random(&seed) % (i + 1);
        int32_t t = c->slots[i];
        c->slots[i] = c->slots[j];
        c->slots[j] = t;
    }
    for (size_t i = 0; i < c->M; i++)
        c->keys[i] = ops_random(&seed);
    for (size_t i = 0; slots && i < n_segs; i++)
        c->segs[i].slots = c->slots + c->segs[i].k0;
}

static void call_deinit(struct call *c)
{
    free(c->q), free(c->k), free(c->v), free(c->slots), free(c->keys);
}

/* Computes one query of one head: p[n_k] before dropout, out[Dv] after. */
static void expect(const struct call *c, const struct dg_attn_seg *seg, size_t i, size_t h,
    bool drop, double *p, double *out)
{
    struct dims d = c->d;
    size_t seen = seg->causal ? seg->n_k - seg->n_q + i + 1 : seg->n_k;
    double max = -INFINITY, sum = 0;
    for (size_t j = 0; j < seg->n_k; j++) {
        size_t row = seg->slots ? (size_t)seg->slots[j] : seg->k0 + j;
        p[j] = 0;
        for (size_t e = 0; e < d.Dk; e++)
            p[j] += (double)c->q[((seg->q0 + i) * d.H + h) * d.Dk + e] *
                    c->k[(row * d.H + h) * d.Dk + e];
        p[j] /= sqrt(d.Dk);
        max = j < seen && p[j] > max ? p[j] : max;
    }
    for (size_t j = 0; j < seg->n_k; j++) {
        p[j] = j < seen ? exp(p[j] - max) : 0;
        sum += p[j];
    }
    memset(out, 0, d.Dv * sizeof *out);
    for (size_t j = 0; j < seg->n_k; j++) {
        size_t row = seg->slots ? (size_t)seg->slots[j] : seg->k0 + j;
        p[j] /= sum;
        double kept = p[j];
        if (drop)
            kept = dg_dropout_keep(c->keys[seg->q0 + i] ^ 3u, (uint32_t)(h * 2048 + j), 0.2f)
                       ? p[j] / (1 - (double)0.2f)
                       : 0;
        for (size_t e = 0; e < d.Dv; e++)
            out[e] += kept * c->v[(row * d.H + h) * d.Dv + e];
    }
}

static void compare(
    const struct call *c, const char *isa, bool drop, const float *got, const float *probs)
{
    struct dims d = c->d;
    double *p = ops_memory(c->pool, sizeof *p), *out = ops_memory(d.Dv, sizeof *out);
    for (size_t s = 0; s < c->n_segs; s++)
        for (size_t i = 0; i < c->segs[s].n_q; i++)
            for (size_t h = 0; h < d.H; h++) {
                const struct dg_attn_seg *seg = &c->segs[s];
                expect(c, seg, i, h, drop, p, out);
                /* A score is a sum of Dk products up to 3, rounded; exp turns its error into a
                 * relative one. */
                double tolerance = EPS * (4 * sqrt(d.Dk) + sqrt(seg->n_k) + 16);
                for (size_t e = 0; e < d.Dv; e++)
                    ops_near("attention", isa, e, got[((seg->q0 + i) * d.H + h) * d.Dv + e], out[e],
                        tolerance);
                for (size_t j = 0; probs && j < seg->n_k; j++)
                    ops_near("probs", isa, j, probs[seg->probs + (h * seg->n_q + i) * seg->n_k + j],
                        p[j], tolerance);
            }
    free(p), free(out);
}

static void check(
    struct dg_backend *be, const char *isa, struct call *c, bool drop, bool want_probs)
{
    size_t qn = (size_t)c->d.H * c->d.Dk, vn = (size_t)c->d.H * c->d.Dv;
    struct dg_rows q = ops_rows(be, c->q, c->M, qn, 3, qn + 1),
                   out = ops_rows(be, NULL, c->M, vn, 2, vn + 3);
    struct dg_dropout dropout = {0.2f, 3u, c->keys};
    struct dg_attention op = {c->d.H, c->d.Dk, c->d.Dv, DG_ATTN_SEGS, c->segs, c->n_segs,
        .k = ops_rows(be, c->k, c->pool, qn, 1, qn + 2),
        .v = ops_rows(be, c->v, c->pool, vn, 5, vn)};
    if (want_probs)
        op.probs = ops_rows(be, NULL, 1, c->probs, 9, c->probs);
    if (drop)
        op.drop = &dropout;
    be->ops->attention(be, &op, q, out);
    float *got = ops_memory(c->M * vn, sizeof *got),
          *probs = want_probs ? ops_memory(c->probs, sizeof *probs) : NULL;
    be->ops->read(be, out, c->M, vn, got);
    if (want_probs)
        be->ops->read(be, op.probs, 1, c->probs, probs);
    compare(c, isa, drop, got, probs);
    be->ops->buf_free(be, q.buf);
    be->ops->buf_free(be, out.buf);
    be->ops->buf_free(be, op.k.buf);
    be->ops->buf_free(be, op.v.buf);
    be->ops->buf_free(be, op.probs.buf);
    free(got), free(probs);
}

static void run_dims(struct dg_backend *be, const char *isa)
{
    static const struct dims all[] = {{8, 64, 64}, {1, 512, 512}, {2, 16, 64}, {3, 5, 9}, {1, 1, 1},
        {2, 20, 70}, {16, 32, 32}, {2, 128, 130}};
    static const uint32_t square[][2] = {{1, 1}, {7, 7}, {27, 27}, {8, 8}, {70, 70}};
    static const uint32_t cross[][2] = {{4, 27}, {1, 100}, {5, 9}, {1, 1}, {12, 64}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int kind = 0; kind < 16; kind++) {
            bool causal = kind & 1, slots = kind & 2, drop = kind & 4, probs = kind & 8;
            struct call c;
            call_init(&c, all[i], causal ? square : cross, 5, causal, slots);
            check(be, isa, &c, drop, probs);
            call_deinit(&c);
        }
}

static void test_dims(void **state)
{
    (void)state;
    ops_each_isa("attention", run_dims);
}

/* One cached step: the last query of a causal call is a call with one query. */
static void run_step(struct dg_backend *be, const char *isa)
{
    static const uint32_t steps[][2] = {{1, 5}, {3, 40}, {9, 33}};
    struct call c;
    call_init(&c, (struct dims){4, 24, 40}, steps, 3, true, true);
    check(be, isa, &c, false, true);
    call_deinit(&c);
}

static void test_step(void **state)
{
    (void)state;
    ops_each_isa("attention, cached steps", run_step);
}

static void same_rows(
    struct dg_backend *be, const char *isa, struct dg_rows a, struct dg_rows b, size_t M, size_t N)
{
    float *x = ops_memory(M * N, sizeof *x), *y = ops_memory(M * N, sizeof *y);
    be->ops->read(be, a, M, N, x);
    be->ops->read(be, b, M, N, y);
    for (size_t i = 0; i < M * N; i++)
        if (memcmp(x + i, y + i, sizeof *x))
            fail_msg("attention with new keys, %s: row %zu element %zu is %g, not %g", isa, i / N,
                i % N, (double)x[i], (double)y[i]);
    free(x), free(y);
}

/* A cached step that brings its keys and values equals one whose keys and values were written
 * before, both in its results and in the cache afterwards. */
static void check_newest(struct dg_backend *be, const char *isa, struct dims d)
{
    enum { M = 4, POOL = 90 };
    static const uint32_t lengths[M] = {1, 5, 33, 40};
    size_t kn = (size_t)d.H * d.Dk, vn = (size_t)d.H * d.Dv, wide = 2 * kn + vn + 3;
    float *x = ops_floats(M * wide, 1), *k = ops_floats(POOL * kn, 2),
          *v = ops_floats(POOL * vn, 3);
    struct dg_rows all = ops_rows(be, x, M, wide, 0, wide), nk = all, nv = all;
    struct dg_rows pool[2][2], out[2];
    int32_t slots[POOL], last[M];
    struct dg_attn_seg segs[M];
    nk.offset += kn;
    nv.offset += 2 * kn;
    for (uint32_t i = 0; i < POOL; i++)
        slots[i] = (int32_t)(i * 7 % POOL);
    for (uint32_t m = 0, at = 0; m < M; at += lengths[m++]) {
        segs[m] = (struct dg_attn_seg){m, 1, lengths[m], 0, slots + at, m % 2, 0};
        last[m] = slots[at + lengths[m] - 1];
    }
    for (int i = 0; i < 2; i++) {
        pool[i][0] = ops_rows(be, k, POOL, kn, 0, kn);
        pool[i][1] = ops_rows(be, v, POOL, vn, 4, vn);
        out[i] = ops_rows(be, NULL, M, vn, 0, vn);
    }
    be->ops->kv_write(be, nk, pool[0][0], last, M, kn);
    be->ops->kv_write(be, nv, pool[0][1], last, M, vn);
    struct dg_attention op = {
        d.H, d.Dk, d.Dv, DG_ATTN_SEGS, segs, M, .k = pool[0][0], .v = pool[0][1]};
    be->ops->attention(be, &op, all, out[0]);
    op.k = pool[1][0];
    op.v = pool[1][1];
    op.new_k = nk;
    op.new_v = nv;
    be->ops->attention(be, &op, all, out[1]);
    same_rows(be, isa, out[1], out[0], M, vn);
    same_rows(be, isa, pool[1][0], pool[0][0], POOL, kn);
    same_rows(be, isa, pool[1][1], pool[0][1], POOL, vn);
    for (int i = 0; i < 2; i++) {
        be->ops->buf_free(be, pool[i][0].buf);
        be->ops->buf_free(be, pool[i][1].buf);
        be->ops->buf_free(be, out[i].buf);
    }
    be->ops->buf_free(be, all.buf);
    free(x), free(k), free(v);
}

/* A query alone, and the same query twice in one segment: other loops, the same bits. */
static void check_alone(struct dg_backend *be, const char *isa, struct dims d, uint32_t n_k)
{
    size_t kn = (size_t)d.H * d.Dk, vn = (size_t)d.H * d.Dv;
    float *x = ops_floats(kn, 1), *k = ops_floats(n_k * kn, 2), *v = ops_floats(n_k * vn, 3);
    struct dg_error err = {0};
    int32_t *slots = ops_memory(n_k, sizeof *slots);
    for (uint32_t i = 0; i < n_k; i++)
        slots[i] = (int32_t)(n_k - 1 - i);
    for (int half = 0; half < 2; half++) {
        struct dg_rows from[2] = {ops_rows(be, k, n_k, kn, 0, kn), ops_rows(be, v, n_k, vn, 0, vn)};
        struct dg_rows pool[2] = {{NULL, 0, kn}, {NULL, 0, vn}};
        struct dg_rows q = ops_rows(be, x, 1, kn, 0, 0), out = ops_rows(be, NULL, 3, vn, 0, vn);
        struct dg_rows one = out, two = out;
        for (int i = 0; i < 2; i++) {
            size_t n = n_k * pool[i].ld;
            enum dg_type type = half ? DG_F16 : DG_F32;
            assert_int_equal(0, be->ops->kv_new ? be->ops->kv_new(be, n, type, &pool[i].buf, &err)
                                                : be->ops->buf_new(be, n, &pool[i].buf, &err));
            be->ops->kv_write(be, from[i], pool[i], slots, n_k, pool[i].ld);
        }
        struct dg_attn_seg seg = {0, 1, n_k, 0, slots, false, 0};
        struct dg_attention op = {
            d.H, d.Dk, d.Dv, DG_ATTN_SEGS, &seg, 1, .k = pool[0], .v = pool[1]};
        be->ops->attention(be, &op, q, one);
        seg.n_q = 2; /* rows of q are 0 apart: the same row again */
        two.offset += vn;
        be->ops->attention(be, &op, q, two);
        same_rows(be, isa, two, one, 1, vn);
        two.offset += vn;
        same_rows(be, isa, two, one, 1, vn);
        for (int i = 0; i < 2; i++) {
            be->ops->buf_free(be, from[i].buf);
            be->ops->buf_free(be, pool[i].buf);
        }
        be->ops->buf_free(be, q.buf);
        be->ops->buf_free(be, out.buf);
    }
    free(x), free(k), free(v), free(slots);
}

static void run_alone(struct dg_backend *be, const char *isa)
{
    static const struct dims all[] = {
        {8, 64, 64}, {4, 64, 64}, {3, 32, 16}, {1, 512, 64}, {2, 5, 9}, {32, 16, 64}, {2, 16, 128}};
    static const uint32_t lengths[] = {1, 7, 16, 65, 700};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++)
            check_alone(be, isa, all[i], lengths[n]);
}

static void test_alone(void **state)
{
    (void)state;
    ops_each_isa("attention, a query alone", run_alone);
}

static void run_newest(struct dg_backend *be, const char *isa)
{
    static const struct dims all[] = {{3, 64, 64}, {2, 5, 9}, {1, 8, 1030}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check_newest(be, isa, all[i]);
}

static void test_newest(void **state)
{
    (void)state;
    ops_each_isa("attention, steps that bring their keys", run_newest);
}

static void run_long(struct dg_backend *be, const char *isa)
{
    static const uint32_t lengths[][2] = {{3, 2048}, {3, 2049}, {10, 5000}};
    for (int causal = 0; causal < 2; causal++) {
        struct call c;
        call_init(&c, (struct dims){2, 8, 8}, lengths, 3, causal, false);
        check(be, isa, &c, causal, true);
        call_deinit(&c);
    }
}

static void test_long(void **state)
{
    (void)state;
    ops_each_isa("attention over 5,000 keys", run_long);
}

/* Scores far apart: no overflow, and the smaller one gets exactly zero weight. */
static void run_extremes(struct dg_backend *be, const char *isa)
{
    float q[1] = {100}, k[3] = {100, -100, 99.99f}, v[3] = {1, 1e30f, 3}, out[1];
    struct dg_attn_seg seg = {0, 1, 3, 0, NULL, false, 0};
    struct dg_rows qr = ops_rows(be, q, 1, 1, 0, 1), outr = ops_rows(be, NULL, 1, 1, 0, 1);
    struct dg_attention op = {1, 1, 1, DG_ATTN_SEGS, &seg, 1, .k = ops_rows(be, k, 3, 1, 0, 1),
        .v = ops_rows(be, v, 3, 1, 0, 1)};
    be->ops->attention(be, &op, qr, outr);
    be->ops->read(be, outr, 1, 1, out);
    double e = exp((double)99.99f * 100 - 10000);
    ops_near("attention extremes", isa, 0, out[0], (1 + 3 * e) / (1 + e),
        3e-4); /* scores of 1e4 round to 1e-3 */
    be->ops->buf_free(be, qr.buf);
    be->ops->buf_free(be, outr.buf);
    be->ops->buf_free(be, op.k.buf);
    be->ops->buf_free(be, op.v.buf);
}

static void test_extremes(void **state)
{
    (void)state;
    ops_each_isa("attention extremes", run_extremes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dims), cmocka_unit_test(test_step),
        cmocka_unit_test(test_newest), cmocka_unit_test(test_alone), cmocka_unit_test(test_long),
        cmocka_unit_test(test_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
