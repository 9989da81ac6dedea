/* Finds the fastest of cuBLASLt's algorithms for each number of rows, among those that give the
 * same bits. A row-stable product (contract 1) may change its algorithm with the number of rows
 * only if no result changes by a bit. Whether two algorithms add up in the same order is found with
 * products whose results are nothing but rounding errors: b's second half is b's first half
 * negated, a's second half is a's first half, so that every sum is zero except for what was rounded
 * away. Algorithms that agree in all of these bits form a class. The class that the library prefers
 * for most numbers of rows wins, by its order alone, so that every start chooses the same one.
 * Within the class speed decides: a timing that turns out differently at the next start, or that
 * there is no memory for, changes no answer. Without memory to find the class, which takes a copy
 * of the weight and a few rows, there is no product. */
#include "base/clock.h"
#include "base/debug.h"
#include "base/log.h"
#include "kernels/cuda/beam.h"
#include "kernels/cuda/gemm_race.h"

#include <stdlib.h>
#include <string.h>

/* SIGNED: rows of the products whose bits define the classes; EDGE: first and last rows that are
 * compared once more at the number of rows that is timed; LAUNCHES: products in a recording, which
 * is timed RUNS times. */
enum { PREFERRED = DG_GEMM_SIZES, LISTS, SIGNED = 24, EDGE = 16, LAUNCHES = 12, RUNS = 3 };

static const size_t most_rows[DG_GEMM_SIZES] = {16, 64, 256, 1024, DG_GEMM_CHECKED},
                    timed_rows[DG_GEMM_SIZES] = {8, 40, 160, 640, 2560},
                    largest_result = (size_t)192 << 20;

struct racer {
    cublasLtMatmulAlgo_t algo;
    uint64_t bits; /* hash of its products' bits */
    bool runs;
};

/* memory: of b, the bias, and for `most` rows a and two results. list: for each size, then for
 * DG_GEMM_STABLE_ROWS, the indices in all[] of the library's algorithms, the best first. */
struct race {
    struct dg_cuda *cu;
    cublasLtHandle_t lt;
    struct dg_gemm_call call;
    unsigned char *memory, *host;
    void *result[2];
    size_t row_bytes, most;
    struct racer all[LISTS * DG_GEMM_ASKED];
    size_t n, n_list[LISTS];
    uint8_t list[LISTS][DG_GEMM_ASKED];
};

size_t dg_gemm_size_of(size_t M)
{
    size_t s = 0;
    while (s + 1 < DG_GEMM_SIZES && most_rows[s] < M)
        s++;
    return s;
}

/* Enter an algorithm in all[], if it is not there yet; returns its index. */
static uint8_t enter(struct race *r, const cublasLtMatmulAlgo_t *algo)
{
    size_t i = 0;
    while (i < r->n && memcmp(&r->all[i].algo, algo, sizeof *algo) != 0)
        i++;
    if (i == r->n)
        r->all[r->n++].algo = *algo;
    return (uint8_t)i;
}

static void list_algorithms(struct race *r)
{
    for (size_t s = LISTS; s-- > 0;) { /* the preferred ones get the first indices */
        cublasLtMatmulHeuristicResult_t found[DG_GEMM_ASKED];
        int n = 0;
        const size_t rows = s == PREFERRED ? DG_GEMM_STABLE_ROWS : timed_rows[s];
        if (dg_gemm_ask(r->lt, &r->call, true, rows, found, &n))
            continue;
        for (int i = 0; i < n; i++)
            if (!found[i].state && dg_gemm_is_whole(&found[i].algo))
                r->list[s][r->n_list[s]++] = enter(r, &found[i].algo);
    }
}

/* True if there is more than one algorithm to choose from. */
static bool has_rivals(const struct race *r)
{
    for (size_t s = 0; s < DG_GEMM_SIZES; s++)
        for (size_t i = 0; i < r->n_list[s]; i++)
            if (r->list[s][i] != 0)
                return true;
    return false;
}

/* Fill a row of K elements of random sign, mantissa and exponent, never 0. The second half repeats
 * the first, or negates it. */
static void fill_row(unsigned char *to, enum dg_type type, size_t K, bool negated, uint64_t *state)
{
    const size_t size = dg_cuda_type_bytes(type), half = K / 2;
    memset(to, 0, K * size);
    for (size_t i = 0; i < half; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        const uint32_t x = (uint32_t)(*state >> 32), e = (uint32_t)(*state >> 20) & 15;
        uint32_t bits = type == DG_F32   ? (x & 0x807FFFFFu) | (0x70 + e) << 23
                        : type == DG_F16 ? (x & 0x83FFu) | (1 + e % 15) << 10
                                         : (x & 0x807Fu) | (0x70 + e) << 7;
        for (int again = 0; again < 2; again++) {
            const uint16_t narrow = (uint16_t)bits;
            unsigned char *at = to + (i + (again ? half : 0)) * size;
            memcpy(at, size == 4 ? (const void *)&bits : &narrow, size);
            if (negated)
                bits ^= type == DG_F32 ? 0x80000000u : 0x8000u;
        }
    }
}

/* Fill x[rows,K], x.ld apart, and copy it to the device. Row i is the same among any number of
 * rows. */
static cudaError_t fill(
    struct race *r, struct dg_k_rows x, size_t rows, size_t K, bool negated, uint64_t seed)
{
    const size_t row = x.ld * dg_cuda_type_bytes(x.type);
    unsigned char *host = calloc(rows, row);
    if (!host)
        return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < rows; i++)
        fill_row(host + i * row, x.type, K, negated, &seed);
    cudaError_t rc = cudaMemcpyAsync(x.p, host, rows * row, cudaMemcpyHostToDevice, r->cu->stream);
    if (!rc)
        rc = cudaStreamSynchronize(r->cu->stream);
    free(host);
    return rc;
}

static size_t rounded(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* The race's memory comes directly from the driver, and returns there later: an engine needs none
 * of it. */
static cudaError_t open_memory(struct race *r, size_t rows)
{
    struct dg_gemm_call *c = &r->call;
    const size_t b = rounded(c->N * c->b.ld * dg_cuda_type_bytes(c->b.type)),
                 bias = rounded(c->N * 4),
                 a = rounded(rows * c->a.ld * dg_cuda_type_bytes(c->a.type)),
                 result = rounded(rows * r->row_bytes);
    void *memory = NULL;
    cudaFree(r->memory);
    cudaError_t rc = cudaMalloc(&memory, b + bias + a + 2 * result);
    r->memory = memory;
    cudaGetLastError(); /* clear it, or the next product would find it */
    if (rc)
        return rc;
    c->b.p = r->memory;
    c->bias = c->bias ? r->memory + b : NULL;
    c->a.p = r->memory + b + bias;
    r->result[0] = r->memory + b + bias + a;
    r->result[1] = r->memory + b + bias + a + result;
    r->most = rows;
    rc = cudaMemsetAsync(r->memory + b, 0, bias, r->cu->stream);
    if (!rc)
        rc = fill(r, c->b, c->N, c->K, true, 2);
    return rc ? rc : fill(r, c->a, rows, c->K, false, 1);
}

/* The largest number of rows that is timed. */
static size_t rows_to_time(const struct race *r)
{
    size_t most = SIGNED;
    for (size_t s = 0; s < DG_GEMM_SIZES; s++)
        if (timed_rows[s] * r->row_bytes <= largest_result && timed_rows[s] > most)
            most = timed_rows[s];
    return most;
}

static bool multiply(struct race *r, const cublasLtMatmulAlgo_t *algo, size_t rows, void *result)
{
    struct dg_gemm_call c = r->call;
    c.M = rows;
    c.c.p = result;
    return !dg_gemm_run(r->cu, r->lt, &c, algo);
}

/* Copy this many rows of result, from row `first` on, to host. */
static bool fetch(struct race *r, const void *result, size_t first, size_t rows, void *host)
{
    return !cudaMemcpyAsync(host, (const char *)result + first * r->row_bytes, rows * r->row_bytes,
               cudaMemcpyDeviceToHost, r->cu->stream) &&
           !cudaStreamSynchronize(r->cu->stream);
}

/* Fill the result with NaN, so that elements that are not written can be seen. */
static bool poisoned(struct race *r, void *result, size_t rows)
{
    return !cudaMemsetAsync(result, 0xFF, rows * r->row_bytes, r->cu->stream);
}

static void sign(struct race *r, struct racer *x)
{
    uint64_t bits = 14695981039346656037u;
    x->runs = !dg_gemm_first_refused(r->lt, &r->call, &x->algo, SIGNED, SIGNED) &&
              poisoned(r, r->result[1], SIGNED) && multiply(r, &x->algo, SIGNED, r->result[1]) &&
              fetch(r, r->result[1], 0, SIGNED, r->host);
    for (size_t i = 0; x->runs && i < SIGNED * r->row_bytes; i += sizeof bits) {
        uint64_t word;
        memcpy(&word, r->host + i, sizeof word);
        bits = (bits ^ word) * 1099511628211u;
        bits ^= bits >> 29;
    }
    x->bits = bits;
}

/* The library's preference for a class: a point for each size where it lists one of the class
 * first, half a point where second, and so on. */
static double standing(const struct race *r, uint64_t bits)
{
    double points = 0;
    for (size_t s = 0; s < LISTS; s++)
        for (size_t i = 0; i < r->n_list[s]; i++) {
            const struct racer *x = &r->all[r->list[s][i]];
            if (!x->runs || x->bits != bits)
                continue;
            points += 1.0 / (double)(i + 1);
            break;
        }
    return points;
}

/* The first algorithm that serves every number of rows, as `known` does: of the class, otherwise of
 * any. NULL: none does. */
static struct racer *find_first(struct race *r, uint64_t bits, const cublasLtMatmulAlgo_t *known)
{
    for (int any = 0; any < 2; any++)
        for (size_t i = 0; i < r->n; i++) {
            struct racer *x = &r->all[i];
            if (!x->runs || (x->bits == bits) == any)
                continue;
            if (!memcmp(&x->algo, known, sizeof *known) ||
                !dg_gemm_first_refused(r->lt, &r->call, &x->algo, 1, DG_GEMM_CHECKED))
                return x;
        }
    return NULL;
}

/* True if x gives the same bits as `first` with this number of rows. */
static bool agrees(struct race *r, const struct racer *x, const struct racer *first, size_t rows)
{
    const size_t edge = rows < EDGE ? rows : EDGE, bytes = edge * r->row_bytes;
    const struct racer *const both[] = {first, x};
    for (int i = 0; i < 2; i++) {
        unsigned char *host = r->host + (size_t)i * 2 * bytes;
        if (!poisoned(r, r->result[i], rows) || !multiply(r, &both[i]->algo, rows, r->result[i]) ||
            !fetch(r, r->result[i], 0, edge, host) ||
            !fetch(r, r->result[i], rows - edge, edge, host + bytes))
            return false;
    }
    return memcmp(r->host, r->host + 2 * bytes, 2 * bytes) == 0;
}

/* Nanoseconds of a product as part of a recorded step, without the host's cost of launching it. 0:
 * it could not be timed. */
static uint64_t time_of(struct race *r, const struct racer *x, size_t rows)
{
    cudaStream_t stream = r->cu->stream;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    bool whole = true;
    uint64_t best = 0;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed))
        return 0;
    for (int i = 0; i < LAUNCHES && whole; i++)
        whole = multiply(r, &x->algo, rows, r->result[1]);
    if (!cudaStreamEndCapture(stream, &graph) && whole && !cudaGraphInstantiate(&exec, graph, 0))
        for (int i = 0; i <= RUNS; i++) { /* the first is for warming up */
            const uint64_t from = dg_clock_ns();
            if (cudaGraphLaunch(exec, stream) || cudaStreamSynchronize(stream))
                break;
            const uint64_t took = (dg_clock_ns() - from) / LAUNCHES;
            if (i && (!best || took < best))
                best = took;
        }
    if (exec)
        cudaGraphExecDestroy(exec);
    if (graph)
        cudaGraphDestroy(graph);
    return best;
}

/* The winner for one size. An algorithm less than about 1/32 faster than `first` is not worth a
 * change. */
static const struct racer *run_size(struct race *r, size_t s, const struct racer *first)
{
    const size_t rows = timed_rows[s], from = s ? most_rows[s - 1] + 1 : 1;
    const struct racer *winner = first;
    if (rows > r->most)
        return first;
    const uint64_t ns = time_of(r, first, rows);
    uint64_t best = ns / 32 * 31;
    size_t raced = 0;
    for (size_t i = 0; i < r->n_list[s]; i++) {
        const struct racer *x = &r->all[r->list[s][i]];
        if (x == first || !x->runs || x->bits != first->bits || !agrees(r, x, first, rows))
            continue;
        const uint64_t took = time_of(r, x, rows);
        raced++;
        if (!took || took >= best ||
            dg_gemm_first_refused(r->lt, &r->call, &x->algo, from, most_rows[s]))
            continue;
        best = took;
        winner = x;
    }
    if (dg_debug("cuda-log"))
        dg_log(DG_LOG_INFO,
            "gemm_race n=%zu k=%zu rows=%zu rivals=%zu same_bits=%zu first_ns=%llu best_ns=%llu "
            "tile=%d",
            r->call.N, r->call.K, rows, r->n_list[s], raced, (unsigned long long)ns,
            (unsigned long long)(winner == first ? ns : best),
            dg_gemm_config_of(&winner->algo, CUBLASLT_ALGO_CONFIG_TILE_ID));
    return winner;
}

/* The algorithm that serves every number of rows, of the class that wins; NULL: none runs. */
static const struct racer *choose_class(struct race *r, const cublasLtMatmulAlgo_t *known)
{
    const struct racer *favourite = NULL;
    for (size_t i = 0; i < r->n; i++)
        sign(r, &r->all[i]);
    for (size_t i = 0; i < r->n; i++)
        if (r->all[i].runs &&
            (!favourite || standing(r, r->all[i].bits) > standing(r, favourite->bits)))
            favourite = &r->all[i];
    return favourite ? find_first(r, favourite->bits, known) : NULL;
}

static int run(struct race *r, cublasLtMatmulAlgo_t *algo, struct dg_error *err)
{
    r->row_bytes = r->call.c.ld * dg_cuda_type_bytes(r->call.c.type);
    r->host = malloc(4 * EDGE * r->row_bytes);
    cudaError_t rc = r->host ? open_memory(r, rows_to_time(r)) : cudaErrorMemoryAllocation;
    const bool untimed = rc != cudaSuccess;
    if (r->host && untimed)
        rc = open_memory(r, SIGNED);
    if (rc == cudaErrorMemoryAllocation)
        return dg_error_set(err, DG_ENOMEM,
            "no memory for choosing how to multiply by a matrix [%zu,%zu]: for a moment, this "
            "takes the memory of one more",
            r->call.N, r->call.K);
    if (rc)
        return dg_error_set(
            err, DG_EINTERNAL, "choosing how to multiply failed: %s", cudaGetErrorString(rc));
    const struct racer *first = choose_class(r, algo);
    if (first && untimed)
        dg_log(DG_LOG_WARN,
            "gemm_untimed msg=\"no memory to time matrix products: they give the same bits, but may "
            "be slower\" device=%s n=%zu k=%zu",
            r->cu->name, r->call.N, r->call.K);
    for (size_t s = 0; first && s < DG_GEMM_SIZES; s++)
        algo[s] = run_size(r, s, first)->algo;
    return DG_OK;
}

int dg_gemm_race(struct dg_cuda *cu, cublasLtHandle_t lt, const struct dg_gemm_call *call,
    cublasLtMatmulAlgo_t *algo, struct dg_error *err)
{
    int rc = DG_OK;
    if (call->kind != DG_GEMM_FORWARD || call->add || (cu->step && cu->step->record) ||
        dg_debug("cuda-one-algorithm"))
        return rc;
    struct race *r = calloc(1, sizeof *r);
    if (!r)
        return dg_error_set(err, DG_ENOMEM, "no memory for choosing how to multiply");
    r->cu = cu;
    r->lt = lt;
    r->call = *call;
    list_algorithms(r);
    if (has_rivals(r))
        rc = run(r, algo, err);
    cudaStreamSynchronize(cu->stream);
    cudaFree(r->memory);
    cudaGetLastError(); /* clear any error: a failed timing changes nothing */
    free(r->host);
    free(r);
    return rc;
}
