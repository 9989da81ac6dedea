/* ops-bench: the speed of the CPU's matrix product: GFLOP/s and GB/s of weights for each shape and
 * number of rows, each instruction set, one and two threads, compared with reading the machine's
 * memory. Weights are cold unless --hot is given: copies that do not fit any cache are used in
 * turn, as a decoder's layers are. */
#include "base/clock.h"
#include "base/command.h"
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

enum { COLD_BYTES = 384 << 20, LIST_MAX = 32, ROWS_MAX = 4096 };
enum { SHAPES_BASE, SHAPES_BIG, SHAPES_ALL };

struct list {
    size_t x[LIST_MAX], n;
};

struct options {
    const char *isa;
    struct list rows, threads;
    int shapes, int8;
    bool hot;
};

struct bench {
    struct dg_backend *be;
    float *panels;       /* copies of the weights */
    const float *scales; /* [32000] of int8 weights; NULL: fp32 */
    struct dg_buf *x, *y;
};

/* Read numbers with commas between them. */
static int take_list(
    const char *name, const char *text, size_t most, struct list *out, struct dg_error *err)
{
    char *end;
    out->n = 0;
    for (const char *s = text; out->n < LIST_MAX; s = end + 1) {
        out->x[out->n] = strtoul(s, &end, 10);
        if (end == s || out->x[out->n] < 1 || out->x[out->n] > most)
            break;
        out->n++;
        if (*end == '\0')
            return DG_OK;
        if (*end != ',')
            break;
    }
    return dg_error_set(err, DG_EINVAL,
        "%s is \"%.40s\", must be numbers from 1 to %zu with commas between them, at most %d", name,
        text, most, LIST_MAX);
}

static int take_rows(const char *name, const char *text, void *out, struct dg_error *err)
{
    return take_list(name, text, ROWS_MAX, &((struct options *)out)->rows, err);
}

static int take_threads(const char *name, const char *text, void *out, struct dg_error *err)
{
    return take_list(name, text, DG_BENCH_THREADS_MAX, &((struct options *)out)->threads, err);
}

static const char *const types[] = {"f32", "int8", NULL};
static const char *const sizes[] = {"base", "big", "all", NULL};

#define AT(member) DG_FIELD_AT(struct options, member)

static const struct dg_field rows[] = {
    {"type", DG_FIELD_WORD, AT(int8), 0, 1, .words = types, .fallback = "f32", .argument = "TYPE",
        .help = "type of the weights"},
    {"isa", DG_FIELD_STRING, AT(isa), .argument = "NAME",
        .help =
            "time this instruction set alone, as DRAGOMAN_ISA names it (default: all but plain C)"},
    {"shapes", DG_FIELD_WORD, AT(shapes), SHAPES_BASE, SHAPES_ALL, .words = sizes,
        .fallback = "base", .argument = "SIZE",
        .help = "matrices of the base model, the big one, or both"},
    {"rows", DG_FIELD_CUSTOM, .take = take_rows, .fallback = "1,2,3,4,6,8,12,16,32,64,128,512",
        .argument = "N,...", .help = "rows to multiply"},
    {"threads", DG_FIELD_CUSTOM, .take = take_threads, .fallback = "1,2", .argument = "N,...",
        .help = "threads of a product"},
    {"hot", DG_FIELD_BOOL, AT(hot), .help = "use one copy of the weights, from the caches"},
};

/* Returns -1 to continue, otherwise the exit status. */
static int read_options(int argc, char **argv, struct options *o)
{
    const struct dg_fields group = {rows, DG_FIELD_COUNT(rows), o, NULL, NULL};
    const struct dg_command command = {.name = "ops-bench",
        .usage =
            "usage: ops-bench [options]\n\n"
            "Prints the speed of the CPU's matrix product by shape, rows and instruction set.\n",
        .groups = &group,
        .n_groups = 1};
    dg_fields_default(&group);
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0 || !o->isa)
        return status;
    for (const char *const *isa = dg_cpu_isas(); *isa; isa++)
        if (!strcmp(*isa, o->isa))
            return -1;
    return dg_command_refuse(
        command.name, "--isa is \"%.40s\", which this machine cannot run", o->isa);
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
    for (size_t i = 0; i < o->rows.n; i++)
        most = o->rows.x[i] > most ? o->rows.x[i] : most;
    int rc = b.be->ops->buf_new(b.be, most * 4096, &b.x, &err) ||
             b.be->ops->buf_new(b.be, most * 32000, &b.y, &err);
    /* Write to the buffer first: untouched pages are all one page of zeroes, and reading that is
     * unlike real use. */
    for (size_t k = 0; !rc && k < most * 4096; k += 512)
        b.be->ops->write(b.be, panels, (struct dg_rows){b.x, k, 0}, 1, 512);
    printf("\n%s, %zu thread%s; reading memory: %.1f GB/s. Each cell: %s, GB/s of weights\n%-18s",
        b.be->name, threads, threads > 1 ? "s" : "",
        dg_bench_read_rate(panels, COLD_BYTES, threads), o->int8 ? "int8 GOP/s" : "GFLOP/s", "M =");
    for (size_t i = 0; i < o->rows.n; i++)
        printf(" %11zu", o->rows.x[i]);
    for (size_t s = 0; !rc && s < sizeof shapes / sizeof *shapes; s++) {
        if (o->shapes != SHAPES_ALL && shapes[s].big != (o->shapes == SHAPES_BIG))
            continue;
        printf("\n%-6s%6zux%-5zu", shapes[s].name, shapes[s].N, shapes[s].K);
        for (size_t i = 0; i < o->rows.n; i++) {
            double seconds = time_shape(&b, shapes[s], o->rows.x[i], o->hot),
                   elements = (double)shapes[s].N * (double)shapes[s].K;
            printf(" %6.1f %4.1f", 2e-9 * (double)o->rows.x[i] * elements / seconds,
                (o->int8 ? 1e-9 : 4e-9) * elements / seconds);
            fflush(stdout);
        }
    }
    printf("\n");
    if (rc)
        fprintf(stderr, "ops-bench: %s\n", err.message);
    b.be->ops->buf_free(b.be, b.x);
    b.be->ops->buf_free(b.be, b.y);
    dg_cpu_close(b.be);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    int status = read_options(argc, argv, &o);
    if (status >= 0)
        return status;
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
        for (size_t t = 0; !rc && t < o.threads.n; t++)
            rc = run_backend(&o, isas[i], o.threads.x[t], panels);
    }
    free(panels);
    return rc;
}
