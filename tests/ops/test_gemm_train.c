/* Training's products against sums in double over the rounded operands: three orders of operands,
 * gaps between rows, sizes on either side of every block's edge; which processors training in bf16
 * requires. */
#ifdef __x86_64__
#define DG_X86 /* as in the build of kernels/ */
#endif
#include "kernels/cpu/bf16.h"
#include "kernels/cpu/train/gemm_train.h"
#include "kernels/train.h"
#include "tests/ops/ops.h"
#include "tests/sanitized.h"
#include "weights/half.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { APART = 5 }; /* elements between two rows */
static const float BETWEEN = 1234;

struct way {
    const char *name;
    const struct dg_gemm_train *gemm;
    struct dg_gemm_bf16 *ctx; /* NULL: fp32 */
};

static void each_way(
    void (*f)(const struct way *way, size_t M, size_t N, size_t K), size_t M, size_t N, size_t K)
{
    struct way ways[4] = {{"fp32", &dg_gemm_fp32, NULL}, {"bf16, plain", &dg_gemm_bf16, NULL},
        {"bf16, avx512bf16", &dg_gemm_bf16, NULL}, {"bf16, amx", &dg_gemm_bf16, NULL}};
    struct dg_error err = {0};
    assert_int_equal(dg_gemm_bf16_open(&dg_bf16_plain, &ways[1].ctx, &err), 0);
#ifdef DG_X86
    if (ops_has_isa("avx512bf16"))
        assert_int_equal(dg_gemm_bf16_open(&dg_bf16_avx512, &ways[2].ctx, &err), 0);
    if (ops_has_isa("amx"))
        assert_int_equal(dg_gemm_bf16_open(&dg_bf16_amx, &ways[3].ctx, &err), 0);
#endif
    for (size_t i = 0; i < 4; i++) {
        if (i == 0 || ways[i].ctx)
            f(&ways[i], M, N, K);
        dg_gemm_bf16_close(ways[i].ctx);
    }
}

/* A matrix of M rows of N, with APART elements between rows. */
struct matrix {
    size_t M, N, ld;
    float *x;
};

static struct matrix matrix_new(size_t M, size_t N, size_t apart, uint64_t seed)
{
    struct matrix a = {M, N, N + apart, ops_floats(M * (N + apart), seed)};
    for (size_t m = 0; m < M; m++)
        for (size_t n = N; n < a.ld; n++)
            a.x[m * a.ld + n] = BETWEEN;
    return a;
}

static double at(const struct way *way, const struct matrix *a, size_t m, size_t n)
{
    float x = a->x[m * a->ld + n];
    return way->ctx ? (double)dg_bf16_to_f32(dg_bf16_from_f32(x)) : (double)x;
}

/* Checks y = before + the sum over k of left(m, k) right(n, k); either may be transposed. Each of K
 * products is rounded at most once, and each of K + 1 sums, none of which exceeds `most`. */
static void check(const struct way *way, const char *what, const struct matrix *y,
    const float *before, const struct matrix *left, bool left_turned, const struct matrix *right,
    bool right_turned, size_t K)
{
    for (size_t m = 0; m < y->M; m++)
        for (size_t n = 0; n < y->ld; n++) {
            const float got = y->x[m * y->ld + n];
            if (n >= y->N) {
                assert_true(got == BETWEEN);
                continue;
            }
            double sum = before ? (double)before[m * y->ld + n] : 0, most = fabs(sum);
            for (size_t k = 0; k < K; k++) {
                const double product = (left_turned ? at(way, left, k, m) : at(way, left, m, k)) *
                                       (right_turned ? at(way, right, k, n) : at(way, right, n, k));
                sum += product;
                most += fabs(product);
            }
            if (fabs((double)got - sum) > 1.01 * (double)(K + 2) * EPS * most)
                fail_msg("%s, %s [%zu,%zu] over %zu: [%zu,%zu] is %.9g, should be %.9g", way->name,
                    what, y->M, y->N, K, m, n, (double)got, sum);
        }
}

static float *copy_of(const struct matrix *a)
{
    float *x = ops_memory(a->M * a->ld, sizeof *x);
    memcpy(x, a->x, a->M * a->ld * sizeof *x);
    return x;
}

static void check_way(const struct way *way, size_t M, size_t N, size_t K)
{
    struct matrix x = matrix_new(M, K, APART, 1), w = matrix_new(N, K, 0, 2),
                  y = matrix_new(M, N, APART, 3), dx = matrix_new(M, K, APART, 4),
                  dw = matrix_new(N, K, 0, 5);
    float *dx_before = copy_of(&dx), *dw_before = copy_of(&dw);
    struct dg_train_gemm weight = {M, N, K, y.x, y.ld, x.x, x.ld, dw.x, dw.ld, .add = true},
                         input = {M, N, K, y.x, y.ld, w.x, w.ld, dx.x, dx.ld, .add = true};
    way->gemm->weight(way->ctx, &weight);
    check(way, "weight, added", &dw, dw_before, &y, true, &x, true, M);
    weight.add = false;
    way->gemm->weight(way->ctx, &weight);
    check(way, "weight", &dw, NULL, &y, true, &x, true, M);
    way->gemm->input(way->ctx, &input);
    check(way, "input, added", &dx, dx_before, &y, false, &w, true, N);
    input.add = false;
    way->gemm->input(way->ctx, &input);
    check(way, "input", &dx, NULL, &y, false, &w, true, N);
    float *y_before = copy_of(&y);
    struct dg_train_gemm forward = {M, N, K, x.x, x.ld, w.x, w.ld, y.x, y.ld, .add = true};
    way->gemm->forward(way->ctx, &forward);
    check(way, "forward, added", &y, y_before, &x, false, &w, false, K);
    forward.add = false;
    way->gemm->forward(way->ctx, &forward);
    check(way, "forward", &y, NULL, &x, false, &w, false, K);
    free(y_before);
    free(x.x), free(w.x), free(y.x), free(dx.x), free(dw.x), free(dx_before), free(dw_before);
}

/* Blocks have 128 rows, 512 columns and 512 summands; panels 16, runs 32. */
static void test_products(void **state)
{
    (void)state;
    static const size_t sizes[][3] = {{1, 1, 1}, {2, 3, 5}, {7, 16, 32}, {16, 17, 33}, {33, 50, 31},
        {129, 20, 40}, {128, 513, 16}, {20, 515, 514}, {513, 18, 20}, {260, 40, 521},
        {5, 1030, 24}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        each_way(check_way, sizes[i][0], sizes[i][1], sizes[i][2]);
}

/* No rows: nothing is written. */
static void check_empty(const struct way *way, size_t M, size_t N, size_t K)
{
    float none[1] = {7}, *w = ops_floats(N * K, 1), *dw = ops_floats(N * K, 2),
          *before = ops_floats(N * K, 2);
    way->gemm->forward(way->ctx, &(struct dg_train_gemm){M, N, K, none, K, w, K, none, N, false});
    way->gemm->input(way->ctx, &(struct dg_train_gemm){M, N, K, none, N, w, K, none, K, false});
    way->gemm->weight(way->ctx, &(struct dg_train_gemm){M, N, K, none, N, none, K, dw, K, true});
    assert_true(none[0] == 7);
    assert_memory_equal(dw, before, N * K * sizeof *dw);
    free(w), free(dw), free(before);
}

static void test_empty(void **state)
{
    (void)state;
    each_way(check_empty, 0, 20, 30);
}

/* A gradient that is not finite must be seen, not rounded away: the trainer stops at it. */
static void check_not_finite(const struct way *way, size_t M, size_t N, size_t K)
{
    struct matrix x = matrix_new(M, K, 0, 1), w = matrix_new(N, K, 0, 2),
                  y = matrix_new(M, N, 0, 3);
    x.x[3 * K + 2] = NAN;
    x.x[5 * K + 1] = INFINITY;
    way->gemm->forward(way->ctx, &(struct dg_train_gemm){M, N, K, x.x, K, w.x, K, y.x, N, false});
    for (size_t n = 0; n < N; n++) {
        assert_true(isnan(y.x[3 * N + n]));
        assert_true(isinf(y.x[5 * N + n]));
        assert_true(isfinite(y.x[4 * N + n]));
    }
    free(x.x), free(w.x), free(y.x);
}

static void test_not_finite(void **state)
{
    (void)state;
    each_way(check_not_finite, 9, 35, 12);
}

/* bf16 opens where the instruction set has it, else a clear error; fp16 never opens. */
static void test_precision(void **state)
{
    (void)state;
    for (const char *const *isa = dg_cpu_isas(); *isa; isa++) {
        const bool can = !strcmp(*isa, "avx512bf16") || !strcmp(*isa, "amx");
        char name[40];
        struct dg_error err = {0};
        struct dg_train *train;
        struct dg_backend *be = ops_open(*isa, 1);
        dg_cpu_set_products(be, DG_F16);
        assert_int_equal(dg_cpu_train_open(be, &train, &err), DG_EUNSUP);
        assert_null(train);
        assert_string_equal(err.field, "precision");
        assert_non_null(strstr(err.message, "precision fp16: "));
        err = (struct dg_error){0};
        dg_cpu_set_products(be, DG_BF16);
        assert_int_equal(dg_cpu_train_open(be, &train, &err), can ? 0 : DG_EUNSUP);
        snprintf(name, sizeof name, "cpu/%s/bf16", *isa);
        if (can)
            assert_string_equal(be->name, name);
        else
            assert_non_null(strstr(err.message, "precision bf16: "));
        dg_cpu_train_close(train);
        dg_cpu_close(be);
    }
}

/* Both kinds are timed where they exist; for a library that chose kernels without this machine's
 * vectors, dg_cpu_train_core names better ones. */
static void test_speed(void **state)
{
    (void)state;
    for (const char *const *isa = dg_cpu_isas(); *isa; isa++) {
        const struct dg_cpu_options o = {.isa = *isa};
        struct dg_backend *be = NULL;
        assert_int_equal(dg_cpu_open(&o, &be, NULL), 0);
        assert_true(dg_cpu_train_speed(be, DG_F32) > 0);
        assert_int_equal(dg_cpu_train_speed(be, DG_BF16) > 0,
            strstr(*isa, "bf16") != NULL || !strcmp(*isa, "amx"));
        dg_cpu_close(be);
    }
    const char *overruled_by, *best = dg_cpu_isas()[0], *core = dg_cpu_train_core("Prescott");
    assert_null(dg_cpu_train_core("SkylakeX"));
    assert_null(dg_cpu_train_core("a later one"));
    const bool wide = !strncmp(best, "avx512", 6) || !strcmp(best, "amx");
    if (!wide && strncmp(best, "avx", 3) != 0)
        assert_null(core);
    else
        assert_string_equal(core, wide ? "SkylakeX" : "Haswell");
    assert_non_null(dg_cpu_train_library(&overruled_by));
}

enum { SIZE = 64, TIMES = 3000 };

/* Multiplies often enough that two threads are sure to multiply at the same moment. */
static void *multiply_often(void *y)
{
    static const float x[SIZE * SIZE];
    for (int i = 0; i < TIMES; i++)
        dg_gemm_fp32.forward(
            NULL, &(struct dg_train_gemm){SIZE, SIZE, SIZE, x, SIZE, x, SIZE, y, SIZE, false});
    return NULL;
}

/* Multiplies on two threads at once, with no address space left after the library took its room. */
static void multiply_without_room(void)
{
    static float y[2][SIZE * SIZE];
    pthread_t other;
    alarm(60); /* a library that waits for memory would wait for ever */
    if (!dg_cpu_train_take_room(2))
        _exit(2);
    if (pthread_create(&other, NULL, multiply_often, y[1]))
        _exit(3);
    const struct rlimit none = {64 << 20, 64 << 20}; /* less than is already in use */
    if (setrlimit(RLIMIT_AS, &none))
        _exit(4);
    multiply_often(y[0]);
    pthread_join(other, NULL);
    _exit(0);
}

/* Returns the bytes of address space in use. */
static size_t used_space(void)
{
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%zu", &pages) != 1)
        _exit(3);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Measures the speed of fp32 with room for operands, but not for the library's buffer. */
static void time_without_room(void)
{
    struct dg_backend *be = ops_open("generic", 1);
    alarm(60); /* a library that waits for memory would wait for ever */
    const rlim_t most = used_space() + ((size_t)64 << 20);
    const struct rlimit little = {most, most};
    if (setrlimit(RLIMIT_AS, &little))
        _exit(4);
    _exit(dg_cpu_train_speed(be, DG_F32) == 0 ? 0 : 2);
}

/* A forked process has the buffers of the library's threads, which end before a fork; one that
 * begins anew has none to spare. */
static void begin_anew(void)
{
    execl("/proc/self/exe", "test_gemm_train", "time-without-room", (char *)NULL);
    _exit(5);
}

/* Runs f in a process of its own and returns its status. */
static int run_apart(void (*f)(void))
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        f();
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_room(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    assert_int_equal(run_apart(multiply_without_room), 0);
    assert_int_equal(run_apart(begin_anew), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "time-without-room"))
        time_without_room();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_room), cmocka_unit_test(test_products),
        cmocka_unit_test(test_speed), cmocka_unit_test(test_empty),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_precision)};
    dg_gemm_fp32_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
