#include "kernels/cpu/train/gemm_train.h"
#include "kernels/train.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

/* OpenBLAS wants int sizes; every dimension of a model and of a micro-batch is far below that. */

void dg_gemm_fp32_init(void)
{
    openblas_set_num_threads(1);
}

const char *dg_cpu_train_library(const char **overruled_by)
{
    static const char *const names[] = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"};
    *overruled_by = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !*overruled_by; i++)
        if (getenv(names[i]) && *getenv(names[i]))
            *overruled_by = names[i];
    return openblas_get_corename();
}

const char *dg_cpu_train_core(const char *chosen)
{
    /* The kernels of OpenBLAS 0.3 that use no AVX; it takes the first of these for processors that
     * it does not know. */
    static const char *const narrow[] = {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem",
        "Athlon", "Opteron", "Opteron_SSE3", "Barcelona", "Bobcat", "Atom", "Nano", "Generic"};
    bool is_narrow = false;
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        is_narrow |= strcasecmp(chosen, narrow[i]) == 0;
    const char *best = dg_cpu_isas()[0];
    if (!is_narrow)
        return NULL;
    if (strncmp(best, "avx512", 6) == 0 || strcmp(best, "amx") == 0)
        return "SkylakeX";
    return strncmp(best, "avx", 3) == 0 ? "Haswell" : NULL;
}

/* OpenBLAS exports these functions, but no header declares them: they take a buffer as its products
 * do, and return it. OpenBLAS keeps what it has allocated. A library without them allocates buffers
 * when products need them. */
extern void *blas_memory_alloc(int place) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

/* Makes OpenBLAS allocate buffers for `threads` products at once. By itself it allocates another
 * one when two threads first happen to multiply at the same moment, long after the check for
 * room. */
static void take_buffers(size_t threads)
{
    enum { MOST = 64 };
    void *buffers[MOST];
    const size_t n = threads < MOST ? threads : MOST;
    for (size_t i = 0; i < n; i++)
        buffers[i] = blas_memory_alloc(0);
    for (size_t i = 0; i < n; i++)
        blas_memory_free(buffers[i]);
}

bool dg_cpu_train_take_room(size_t threads)
{
    const size_t each = (size_t)144 << 20; /* with the thread's stack and heap */
    void *p =
        mmap(NULL, threads * each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    munmap(p, threads * each);
    if (blas_memory_alloc && blas_memory_free)
        take_buffers(threads);
    return true;
}

static void forward(void *ctx, const struct dg_train_gemm *g)
{
    (void)ctx;
    if (g->M && g->N)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)g->M, (int)g->N, (int)g->K, 1.0f,
            g->a, (int)g->lda, g->b, (int)g->ldb, g->add ? 1.0f : 0.0f, g->c, (int)g->ldc);
}

static void input(void *ctx, const struct dg_train_gemm *g)
{
    (void)ctx;
    if (g->M && g->K)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)g->M, (int)g->K, (int)g->N,
            1.0f, g->a, (int)g->lda, g->b, (int)g->ldb, g->add ? 1.0f : 0.0f, g->c, (int)g->ldc);
}

static void weight(void *ctx, const struct dg_train_gemm *g)
{
    (void)ctx;
    if (g->M && g->N)
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)g->N, (int)g->K, (int)g->M, 1.0f,
            g->a, (int)g->lda, g->b, (int)g->ldb, g->add ? 1.0f : 0.0f, g->c, (int)g->ldc);
}

const struct dg_gemm_train dg_gemm_fp32 = {.forward = forward, .input = input, .weight = weight};
