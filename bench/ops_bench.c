/* ops-bench: the speed of the CPU's matrix product: GFLOP/s and GB/s of weights for each shape and
 * number of rows, each instruction set, one and two threads, compared with a plain read of the
 * machine's memory. Weights are cold: copies that do not fit any cache are used in turn, as a
 * decoder's layers are. ops-bench [--type f32|int8] [--isa NAME] [--shapes base|big|all] [--rows
 * 1,4,8,...]
 *         [--threads 1,2] [--hot] */
#include "base/clock.h"
#include "bench/read_rate.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/int8.h"
#include "kernels/cpu/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    const char *name;
    size_t N, K;
    bool big;
};

static const struct shape shapes[] = {{"qkv", 1536, 512, false}, {"out", 512, 512, false},
    {"kv", 1024, 512, false}, {"ffn1", 2048, 512, false}, {"ffn2", 512, 2048, false},
    {"vocab", 32000, 512, false}, {"qkv", 3072, 1024, true}, {"out", 1024, 1024, true},
    {"ffn1", 4096, 1024, true}, {"ffn2", 1024, 4096, true}, {"vocab", 32000, 1024, true}};

enum { COLD_BYTES = 384 << 20, LIST_MAX = 32 };

struct options {
    const char *isa, *which;
    size_t rows[LIST_MAX], n_rows, threads[LIST_MAX], n_threads;
    bool hot, int8;
};

struct bench {
    struct dg_backend *be;
    float *panels;       /* copies of the weights */
    const float *scales; /* [32000] of int8 weights; NULL: fp32 */
    struct dg_buf *x, *y;
};

static size_t parse_list(const char *text, size_t *out)
{
    size_t n = 0;
    for (char *end; *text && n < LIST_MAX; text = *end == ',' ? end + 1 : end) {
        out[n] = strtoul(text, &end, 10);
        if (end == text || !out[n])
            return 0;
        n++;
    }
    return n;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
    o->which = "base";
    o->n_rows = parse_list("1,2,3,4,6,8,12,16,32,64,128,512", o->rows);
    o->n_threads = parse_list("1,2", o->threads);
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--hot")) {
            o->hot = true;
            continue;
        }
        if (!value)
            return false;
        if (!strcmp(argv[i], "--type") && (!strcmp(value, "int8") || !strcmp(value, "f32")))
            o->int8 = !strcmp(value, "int8");
        else if (!strcmp(argv[i], "--isa"))
            o->isa = value;
        else if (!strcmp(argv[i], "--shapes"))
            o->which = value;
        else if (!strcmp(argv[i], "--rows"))
            o->n_rows = parse_list(value, o->rows);
        else if (!strcmp(argv[i], "--threads"))
            o->n_threads = parse_list(value, o->threads);
        else
            return false;
        i++;
    }
    for (size_t i = 0; i < o->n_threads; i++)
        if (o->threads[i] > DG_BENCH_THREADS_MAX)
            return false;
    return o->n_rows && o->n_threads;
}

/* Seconds of one product, the best of several rounds through the copies. */
static double time_shape(struct bench *b, struct shape s, size_t M, bool hot)
{
    size_t bytes = b->scales ? dg_int8_packed_bytes(s.N, s.K) : 4 * dg_pack_elements(s.N, s.K);
    size_t copies = hot ? 1 : COLD_BYTES / bytes, at = 0;
    struct dg_weight **w = calloc(copies, sizeof *w);
    if (!w)
        return 0;
    for (size_t i = 0; i < copies; i++) {
        float *panels = b->panels + i * (bytes / 4);
        struct dg_stored forms[2] = {
            {DG_F32, DG_LAYOUT_ROWS, panels, NULL}, {DG_F32, DG_LAYOUT_PANEL16, panels, NULL}};
        if (b->scales) /* any bytes will do: the results are wrong, but as fast */
            forms[1] = (struct dg_stored){DG_S8, DG_LAYOUT_PANEL16_S8, panels, b->scales};
        struct dg_weight_spec spec = {
            s.name, DG_USE_MATRIX, s.N, s.K, false, forms, 2, .in_place = NULL};
        if (b->be->ops->weight_new(b->be, &spec, &w[i], NULL))
            return 0;
    }
    struct dg_rows x = {b->x, 0, s.K}, y = {b->y, 0, s.N};
    size_t calls = 1;
    double best = 0;
    for (int round = 0; round < 7; round++) {
        uint64_t start = dg_clock_ns();
        for (size_t i = 0; i < calls; i++, at = (at + 1) % copies)
            b->be->ops->linear(b->be, &(struct dg_linear){.w = w[at]}, x, y, M);
        double seconds = (double)(dg_clock_ns() - start) * 1e-9 / (double)calls;
        /* The first round warms up and sets the length of the others. */
        if (round > 0 && (best == 0 || seconds < best))
            best = seconds;
        calls = seconds < 0.02 ? (size_t)(0.02 / seconds) + 1 : 1;
    }
    for (size_t i = 0; i < copies; i++)
        b->be->ops->weight_free(b->be, w[i]);
    free(w);
    return best;
}

static int run_backend(const struct options *o, const char *isa, size_t threads, float *panels)
{
    struct dg_error err = {0};
    static const float scales[32000];
    struct bench b = {.panels = panels, .scales = o->int8 ? scales : NULL};
    if (dg_cpu_open(&(struct dg_cpu_options){.isa = isa, .threads = (int)threads}, &b.be, &err)) {
        fprintf(stderr, "ops-bench: %s\n", err.message);
        return 1;
    }
    size_t most = 0;
    for (size_t i = 0; i < o->n_rows; i++)
        most = o->rows[i] > most ? o->rows[i] : most;
    int rc = b.be->ops->buf_new(b.be, most * 4096, &b.x, &err) ||
             b.be->ops->buf_new(b.be, most * 32000, &b.y, &err);
    /* Write to the buffer first: untouched pages are all one page of zeroes, and reading that is
     * unlike real use. */
    for (size_t k = 0; !rc && k < most * 4096; k += 512)
        b.be->ops->write(b.be, panels, (struct dg_rows){b.x, k, 0}, 1, 512);
    printf("\n%s, %zu thread%s; reading memory: %.1f GB/s. Each cell: %s, GB/s of weights\n%-18s",
        b.be->name, threads, threads > 1 ? "s" : "",
        dg_bench_read_rate(panels, COLD_BYTES, threads), o->int8 ? "int8 GOP/s" : "GFLOP/s", "M =");
    for (size_t i = 0; i < o->n_rows; i++)
        printf(" %11zu", o->rows[i]);
    for (size_t s = 0; !rc && s < sizeof shapes / sizeof *shapes; s++) {
        if (strcmp(o->which, "all") && shapes[s].big != !strcmp(o->which, "big"))
            continue;
        printf("\n%-6s%6zux%-5zu", shapes[s].name, shapes[s].N, shapes[s].K);
        for (size_t i = 0; i < o->n_rows; i++) {
            double seconds = time_shape(&b, shapes[s], o->rows[i], o->hot),
                   elements = (double)shapes[s].N * (double)shapes[s].K;
            printf(" %6.1f %4.1f", 2e-9 * (double)o->rows[i] * elements / seconds,
                (o->int8 ? 1e-9 : 4e-9) * elements / seconds);
            fflush(stdout);
        }
    }
    printf("\n");
    b.be->ops->buf_free(b.be, b.x);
    b.be->ops->buf_free(b.be, b.y);
    dg_cpu_close(b.be);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    if (!parse_options(argc, argv, &o)) {
        fprintf(stderr, "usage: ops-bench [--type f32|int8] [--isa NAME] [--shapes base|big|all] "
                        "[--rows 1,4,8,...] "
                        "[--threads 1,2] [--hot]\n");
        return 2;
    }
    float *panels = aligned_alloc(2 << 20, COLD_BYTES);
    if (!panels) {
        fprintf(stderr, "ops-bench: no memory for %d MiB of weights\n", COLD_BYTES >> 20);
        return 1;
    }
    for (size_t i = 0; i < COLD_BYTES / sizeof *panels; i++)
        panels[i] = (float)(i % 7) - 3;
    int rc = 0;
    const char *const *isas = dg_cpu_isas();
    for (size_t i = 0; !rc && isas[i]; i++) {
        if (o.isa ? strcmp(o.isa, isas[i]) != 0 : isas[i + 1] == NULL && i > 0)
            continue; /* the plain kernels are timed only when named */
        for (size_t t = 0; !rc && t < o.n_threads; t++)
            rc = run_backend(&o, isas[i], o.threads[t], panels);
    }
    free(panels);
    return rc;
}
