/* Keys and values in 16 bits: kv_write rounds to the nearest fp16, and attention over a 16-bit pool
 * gives, bit for bit, what it gives over an fp32 pool that holds the rounded values: one query or
 * several, any head size, slots or not, each instruction set. */
#include "tests/ops/ops.h"

/* IEEE 754 binary16 values of x, worked out by hand; beyond its range: the largest. */
static const struct {
    float x, want;
} known[] = {{0, 0}, {-0.0f, -0.0f}, {1, 1}, {-2.5f, -2.5f}, {0.333333343f, 0.333251953f},
    {65504, 65504}, {65519, 65504}, {65520, 65504}, {1e30f, 65504}, {-1e30f, -65504},
    {INFINITY, 65504}, {-INFINITY, -65504}, {1 + 0x1p-11f, 1}, {1 + 0x3p-11f, 1 + 0x1p-9f},
    {1 + 0x1.8p-11f, 1 + 0x1p-10f}, {0x1p-14f, 0x1p-14f}, {0x1.ff8p-15f, 0x1.ff8p-15f},
    {0x1.ffcp-15f, 0x1p-14f}, {0x1p-24f, 0x1p-24f}, {0x1p-25f, 0}, {0x1.8p-25f, 0x1p-24f},
    {0x3p-25f, 0x1p-23f}, {1e-30f, 0}};

enum { KNOWN = sizeof known / sizeof *known };

static struct dg_buf *new_pool(struct dg_backend *be, size_t n, enum dg_type type)
{
    struct dg_error err = {0};
    struct dg_buf *buf;
    if (be->ops->kv_new(be, n, type, &buf, &err))
        fail_msg("%s", err.message);
    return buf;
}

/* The sum of one value is the value: attention with one key reads the pool back. */
static void run_known(struct dg_backend *be, const char *isa)
{
    float x[KNOWN], got[KNOWN];
    const int32_t slot = 3;
    for (size_t i = 0; i < KNOWN; i++)
        x[i] = known[i].x;
    struct dg_buf *pool = new_pool(be, 4 * KNOWN, DG_F16);
    struct dg_rows rows = ops_rows(be, x, 1, KNOWN, 0, KNOWN),
                   out = ops_rows(be, NULL, 1, KNOWN, 0, KNOWN),
                   q = ops_rows(be, NULL, 1, KNOWN, 0, KNOWN);
    struct dg_rows kv = {pool, 0, KNOWN};
    struct dg_attn_seg seg = {.n_q = 1, .n_k = 1, .slots = &slot};
    be->ops->kv_write(be, rows, kv, &slot, 1, KNOWN);
    struct dg_attention op = {
        .H = 1, .Dk = KNOWN, .Dv = KNOWN, .segs = &seg, .n_segs = 1, .k = kv, .v = kv};
    be->ops->attention(be, &op, q, out);
    be->ops->read(be, out, 1, KNOWN, got);
    for (size_t i = 0; i < KNOWN; i++)
        ops_near("fp16", isa, i, got[i], known[i].want, 0);
    be->ops->buf_free(be, pool);
    be->ops->buf_free(be, rows.buf);
    be->ops->buf_free(be, out.buf);
    be->ops->buf_free(be, q.buf);
}

struct problem {
    size_t H, Dk, Dv, n_k, n_q, rows;
    bool slots, causal;
};

/* Computes out[n_q,H*Dv] over a pool of this type, written from k and v. */
static void attend(struct dg_backend *be, const struct problem *p, enum dg_type type,
    const float *q, const float *k, const float *v, float *out)
{
    size_t hk = p->H * p->Dk, hv = p->H * p->Dv;
    int32_t *slots = ops_memory(p->n_k, sizeof *slots);
    for (size_t j = 0; j < p->n_k; j++)
        slots[j] = (int32_t)(p->slots ? (j * 7 + 3) % p->rows : j);
    struct dg_rows kp = {new_pool(be, p->rows * (hk + 1) + 5, type), 5, hk + 1},
                   vp = {new_pool(be, p->rows * hv, type), 0, hv};
    struct dg_rows kr = ops_rows(be, k, p->n_k, hk, 0, hk), vr = ops_rows(be, v, p->n_k, hv, 0, hv),
                   qr = ops_rows(be, q, p->n_q, hk, 1, hk + 3),
                   yr = ops_rows(be, NULL, p->n_q, hv, 0, hv);
    be->ops->kv_write(be, kr, kp, slots, p->n_k, hk);
    be->ops->kv_write(be, vr, vp, slots, p->n_k, hv);
    struct dg_attn_seg seg = {.n_q = (uint32_t)p->n_q,
        .n_k = (uint32_t)p->n_k,
        .slots = p->slots ? slots : NULL,
        .causal = p->causal};
    struct dg_attention op = {.H = (uint32_t)p->H,
        .Dk = (uint32_t)p->Dk,
        .Dv = (uint32_t)p->Dv,
        .segs = &seg,
        .n_segs = 1,
        .k = kp,
        .v = vp};
    be->ops->attention(be, &op, qr, yr);
    be->ops->read(be, yr, p->n_q, hv, out);
    struct dg_rows all[] = {kp, vp, kr, vr, qr, yr};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        be->ops->buf_free(be, all[i].buf);
    free(slots);
}

/* Rounds by the machine-independent definition (test_known checks it against the format). */
static void round_half(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int e;
        frexpf(x[i], &e);
        e = e < -13 ? -13 : e;
        x[i] = ldexpf(rintf(ldexpf(x[i], 11 - e)), e - 11);
    }
}

static void run_problem(struct dg_backend *be, const char *isa, const struct problem *p)
{
    size_t n_k = p->n_k * p->H * p->Dk, n_v = p->n_k * p->H * p->Dv, n_y = p->n_q * p->H * p->Dv;
    float *q = ops_floats(p->n_q * p->H * p->Dk, 1), *k = ops_floats(n_k, 2),
          *v = ops_floats(n_v, 3);
    float *half = ops_memory(n_y, sizeof *half), *wide = ops_memory(n_y, sizeof *wide);
    attend(be, p, DG_F16, q, k, v, half);
    round_half(k, n_k);
    round_half(v, n_v);
    attend(be, p, DG_F32, q, k, v, wide);
    for (size_t i = 0; i < n_y; i++)
        ops_near("attention over fp16", isa, i, half[i], wide[i], 0);
    free(q), free(k), free(v), free(half), free(wide);
}

static void run_problems(struct dg_backend *be, const char *isa)
{
    static const struct problem problems[] = {{8, 64, 64, 27, 1, 90, true, false},
        {8, 64, 64, 27, 4, 90, true, false}, {2, 13, 30, 9, 1, 40, true, false},
        {2, 13, 30, 9, 3, 9, false, true}, {1, 128, 48, 70, 20, 81, true, false},
        {3, 16, 16, 130, 130, 130, false, true}};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        run_problem(be, isa, &problems[i]);
    /* More keys than scores held at once: the keys are read again. */
    run_problem(be, isa, &(struct problem){1, 8, 8, 2500, 2, 2501, true, false});
}

static void test_known(void **state)
{
    (void)state;
    ops_each_isa("fp16", run_known);
}

static void test_problems(void **state)
{
    (void)state;
    ops_each_isa("attention over fp16", run_problems);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known), cmocka_unit_test(test_problems)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
