/* Row stability (contract 1) of int8: every matrix product of the base and big models, each
 * instruction set with int8 kernels of its own, M = 1 .. 130, one and two threads: each row equals,
 * bit for bit, the row alone, and all instruction sets agree with each other. Rows are drawn from a
 * pool; a row's place in the batch changes from one M to the next. */
#include "kernels/cpu/int8.h"
#include "tests/ops/ops.h"
#include "tests/sanitized.h"

struct shape {
    size_t N, K;
};

static const struct shape shapes[] = {{512, 512}, {1024, 512}, {1536, 512}, {2048, 512},
    {512, 2048}, {1024, 1024}, {3072, 1024}, {4096, 1024}, {1024, 4096}, {40, 24}, {77, 300},
    {18, 7}, {32000, 512}, {37000, 512}, {32000, 1024}};

enum { POOL = 131, M_MAX = 130, MANY = 19000 * 512 };

/* Unoptimised and sanitised builds are up to 50 times slower: they test every 13th M. */
#if !defined(__OPTIMIZE__) || SANITIZED
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif

struct product {
    struct shape s;
    size_t n_pool;
    int8_t *w;            /* [N,K] */
    float *scales, *bias; /* [N] */
    float *x, *want;      /* [n_pool,K], [n_pool,N]: results of each row alone, in plain C */
};

static struct dg_weight *weight_new(struct dg_backend *be, const struct product *p)
{
    struct dg_stored form = {DG_S8, DG_LAYOUT_ROWS, p->w, p->scales};
    struct dg_weight_spec spec = {
        "w", DG_USE_MATRIX, p->s.N, p->s.K, false, &form, 1, .in_place = NULL};
    struct dg_error err = {0};
    struct dg_weight *w;
    if (be->ops->weight_new(be, &spec, &w, &err))
        fail_msg("%s", err.message);
    return w;
}

/* Computes y of M rows: row m is pool row (first + m * 7) % n_pool. */
static void run_batch(const struct product *p, struct dg_backend *be, const struct dg_linear *op,
    size_t M, size_t first)
{
    size_t N = p->s.N, K = p->s.K, offset = first % 17;
    float *x = ops_memory(M * K, sizeof *x), *y = ops_memory(M * N, sizeof *y);
    for (size_t m = 0; m < M; m++)
        memcpy(x + m * K, p->x + (first + m * 7) % p->n_pool * K, K * sizeof *x);
    struct dg_rows xr = ops_rows(be, x, M, K, offset, K + offset % 3),
                   yr = ops_rows(be, NULL, M, N, offset, N + offset % 5);
    be->ops->linear(be, op, xr, yr, M);
    be->ops->read(be, yr, M, N, y);
    for (size_t m = 0; m < M; m++)
        if (memcmp(y + m * N, p->want + (first + m * 7) % p->n_pool * N, N * sizeof *y))
            fail_msg(
                "%s: [%zu,%zu], M = %zu: row %zu differs from the row alone", be->name, N, K, M, m);
    be->ops->buf_free(be, xr.buf);
    be->ops->buf_free(be, yr.buf);
    free(x), free(y);
}

static void product_init(struct product *p, struct shape s, size_t n_pool)
{
    uint64_t seed = s.N + s.K;
    /* -64 .. 64: sums may be paired; -127 .. 127: they may not */
    uint32_t range = s.N % 1024 ? 129 : 255;
    *p = (struct product){s, n_pool, ops_memory(s.N * s.K, 1), ops_floats(s.N, 1),
        ops_floats(s.N, 2), ops_floats(n_pool * s.K, s.N),
        ops_memory(n_pool * s.N, sizeof *p->want)};
    for (size_t i = 0; i < s.N * s.K; i++)
        p->w[i] = (int8_t)((int)(ops_random(&seed) % range) - (int)(range / 2));
    for (size_t i = 0; i < n_pool; i++) /* some rows of one sign */
        for (size_t k = 0; i % 3 == 1 && k < s.K; k++)
            p->x[i * s.K + k] = fabsf(p->x[i * s.K + k]);
    struct dg_backend *be = ops_open("generic", 1);
    struct dg_linear op = {weight_new(be, p), ops_weight(be, DG_USE_VECTOR, 1, s.N, p->bias, false),
        DG_ACT_RELU, NULL, {0}, {0}};
    for (size_t i = 0; i < n_pool; i++) {
        struct dg_rows xr = ops_rows(be, p->x + i * s.K, 1, s.K, 0, s.K),
                       yr = ops_rows(be, NULL, 1, s.N, 0, s.N);
        be->ops->linear(be, &op, xr, yr, 1);
        be->ops->read(be, yr, 1, s.N, p->want + i * s.N);
        be->ops->buf_free(be, xr.buf);
        be->ops->buf_free(be, yr.buf);
    }
    be->ops->weight_free(be, (struct dg_weight *)op.w);
    be->ops->weight_free(be, (struct dg_weight *)op.bias);
    dg_cpu_close(be);
}

static void run_isa(const struct product *p, const char *isa)
{
    bool large = p->s.N * p->s.K > MANY, plain = !strcmp(isa, "generic");
    size_t step = plain ? 43 : SLOW ? 13 : 1;
    for (int threads = 1; threads <= 2; threads++) {
        struct dg_backend *be = ops_open(isa, threads);
        struct dg_linear op = {weight_new(be, p),
            ops_weight(be, DG_USE_VECTOR, 1, p->s.N, p->bias, false), DG_ACT_RELU, NULL, {0}, {0}};
        for (size_t M = 1; M <= M_MAX; M += step)
            /* the largest: either thread count */
            if (!large || M / step % 2 == (size_t)threads - 1)
                run_batch(p, be, &op, M, M * 13 + (size_t)threads);
        be->ops->weight_free(be, (struct dg_weight *)op.w);
        be->ops->weight_free(be, (struct dg_weight *)op.bias);
        dg_cpu_close(be);
    }
}

/* True if the instruction set has the int8 kernels of the one before. */
static bool is_repeated(const char *const *isas, size_t i)
{
    return i > 0 && ops_kernels(isas[i]).int8 == ops_kernels(isas[i - 1]).int8;
}

static void test_products(void **state)
{
    (void)state;
    const char *const *isas = dg_cpu_isas();
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct product p;
        bool large = shapes[s].N * shapes[s].K > MANY;
        product_init(&p, shapes[s], SLOW ? 5 : large ? 7 : POOL);
        for (size_t i = 0; isas[i]; i++)
            if ((strcmp(isas[i], "generic") != 0 || !large) && !is_repeated(isas, i))
                run_isa(&p, isas[i]);
        free(p.w), free(p.scales), free(p.bias), free(p.x), free(p.want);
    }
    for (size_t i = 0; isas[i]; i++)
        printf("row stability of int8 products: %s %s\n", isas[i],
            is_repeated(isas, i) ? "has the kernels of the one before" : "ran");
}

/* A model's batch in one call: more rows than the scratch space holds at once. */
static void test_many_rows(void **state)
{
    (void)state;
    const char *const *isas = dg_cpu_isas();
    struct product p;
    product_init(&p, (struct shape){48, 2048}, 7);
    for (size_t i = 0; isas[i]; i++)
        for (int threads = 1; threads <= 2; threads++) {
            struct dg_backend *be = ops_open(isas[i], threads);
            struct dg_linear op = {weight_new(be, &p),
                ops_weight(be, DG_USE_VECTOR, 1, p.s.N, p.bias, false), DG_ACT_RELU, NULL, {0},
                {0}};
            run_batch(&p, be, &op, 1100, 3);
            be->ops->weight_free(be, (struct dg_weight *)op.w);
            be->ops->weight_free(be, (struct dg_weight *)op.bias);
            dg_cpu_close(be);
        }
    free(p.w), free(p.scales), free(p.bias), free(p.x), free(p.want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products), cmocka_unit_test(test_many_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
