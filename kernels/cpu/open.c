/* Opening a CPU backend: the instruction set, the threads, the ops table. */
#include "kernels/cpu/internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef DG_X86
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#ifdef DG_ARM
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

static int never_fails(struct dg_backend *be, struct dg_error *err)
{
    (void)be, (void)err;
    return DG_OK;
}

static void use_threads(struct dg_backend *be, int n)
{
    struct dg_cpu *cpu = dg_cpu_of(be);
    size_t wanted = n < 1 ? 1 : (size_t)n;
    cpu->active = wanted < cpu->threads ? wanted : cpu->threads;
    dg_pool_limit(cpu->pool, (int)cpu->active);
}

static const struct dg_ops ops = {
    .device = "cpu",
    .on_host = true,
    .short_products = true,
    .buf_new = dg_cpu_buf_new,
    .buf_new_wide = dg_cpu_buf_new,
    .kv_new = dg_cpu_kv_new,
    .buf_free = dg_cpu_buf_free,
    .write = dg_cpu_write,
    .read = dg_cpu_read,
    .weight_new = dg_cpu_weight_new,
    .weight_free = dg_cpu_weight_free,
    .weight_round_inputs = dg_cpu_weight_round_inputs,
    .weight_set_steps = dg_cpu_weight_set_steps,
    .embed = dg_cpu_embed,
    .linear = dg_cpu_linear,
    .add_norm = dg_cpu_add_norm,
    .ssru = dg_cpu_ssru,
    .attention = dg_cpu_attention,
    .kv_write = dg_cpu_kv_write,
    .topk = dg_cpu_topk,
    .status = never_fails,
    .use_threads = use_threads,
    .close = dg_cpu_close,
};

#ifdef DG_X86
/* CPUID leaf 7, subleaf 1, EAX. Support by the operating system is that of AVX2 and AVX-512, which
 * are checked first. */
enum { AVXVNNI_BIT = 4, AVX512BF16_BIT = 5 };

static bool has_feature(int bit)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> bit & 1);
}

/* Half-precision conversions: leaf 1, ECX, bit 29. clang 14's builtin does not know the name. They
 * use the registers of AVX2, which is checked first. */
static bool has_f16c(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

/* __builtin_cpu_supports also checks that the operating system saves the registers. */
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

static bool has_avxvnni(void)
{
    return has_avx2() && has_feature(AVXVNNI_BIT);
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

static bool has_avx512vnni(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}

/* Processors with bf16 have AVX-512 VNNI, too: where that is hidden, so is bf16. */
static bool has_avx512bf16(void)
{
    return has_avx512vnni() && has_feature(AVX512BF16_BIT);
}

/* Leaf 7, EDX. */
enum { AMX_BITS = 1 << 22 | 1 << 24 | 1 << 25 }; /* bf16, tiles, int8 */
/* The request to arch_prctl, and the number of the tiles' data among the states that the processor
 * saves. */
enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };

/* Linux saves the 8 KB of tiles only for processes that have requested it; then all their threads
 * may use tiles. The request is refused if the kernel is older than 5.16 or has tiles switched
 * off. */
static bool has_amx(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return has_avx512bf16() && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (d & AMX_BITS) == AMX_BITS &&
           !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA);
}
#endif

#ifdef DG_ARM
static bool has_dotprod(void)
{
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
}

static bool has_i8mm(void)
{
    return has_dotprod() && getauxval(AT_HWCAP2) & HWCAP2_I8MM;
}
#endif

static bool always(void)
{
    return true;
}

/* A named instruction set: its kernels for fp32, for int8, and for bf16 if any. The fastest
 * first. */
static const struct choice {
    const char *name;
    bool (*runs)(void);
    const struct dg_cpu_isa *isa;
    const struct dg_cpu_int8 *int8;
    const struct dg_cpu_bf16 *bf16;
} choices[] = {
#ifdef DG_X86
    {"amx", has_amx, &dg_cpu_avx512, &dg_int8_amx, &dg_bf16_amx},
    {"avx512bf16", has_avx512bf16, &dg_cpu_avx512, &dg_int8_avx512vnni, &dg_bf16_avx512},
    {"avx512vnni", has_avx512vnni, &dg_cpu_avx512, &dg_int8_avx512vnni, NULL},
    {"avx512", has_avx512, &dg_cpu_avx512, &dg_int8_avx512, NULL},
    {"avxvnni", has_avxvnni, &dg_cpu_avx2, &dg_int8_avxvnni, NULL},
    {"avx2", has_avx2, &dg_cpu_avx2, &dg_int8_avx2, NULL},
#endif
#ifdef DG_ARM
    {"neoni8mm", has_i8mm, &dg_cpu_neon, &dg_int8_neoni8mm, NULL},
    {"neondot", has_dotprod, &dg_cpu_neon, &dg_int8_neondot, NULL},
    {"neon", always, &dg_cpu_neon, &dg_int8_neon, NULL},
#endif
    {"generic", always, &dg_cpu_plain, &dg_int8_plain, NULL},
};
enum { CHOICES = sizeof choices / sizeof *choices };

/* Those that this machine can run. */
static const struct choice *runnable[CHOICES];
static const char *names[CHOICES + 1];
static pthread_once_t asked = PTHREAD_ONCE_INIT;

static void ask_machine(void)
{
    size_t n = 0;
    for (size_t i = 0; i < CHOICES; i++)
        if (choices[i].runs()) {
            runnable[n] = &choices[i];
            names[n++] = choices[i].name;
        }
}

const char *const *dg_cpu_isas(void)
{
    pthread_once(&asked, ask_machine);
    return names;
}

/* $DRAGOMAN_ISA, or NULL. */
static const char *named_isa(void)
{
    const char *name = getenv("DRAGOMAN_ISA");
    return name && *name ? name : NULL;
}

const char *dg_cpu_isa(void)
{
    const char *name = named_isa();
    return name ? name : dg_cpu_isas()[0];
}

static int choose_isa(const char *name, const struct choice **out, struct dg_error *err)
{
    const char *const *isas = dg_cpu_isas();
    char list[96] = "";
    for (size_t i = 0; isas[i]; i++) {
        if (!name || !strcmp(name, isas[i])) {
            *out = runnable[i];
            return 0;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", isas[i]);
    }
    return dg_error_field(err, DG_EUNSUP, "isa",
        "instruction set \"%s\" is not one this machine runs: %s", name, list);
}

int dg_cpu_open(const struct dg_cpu_options *options, struct dg_backend **out, struct dg_error *err)
{
    *out = NULL;
    const char *name = options && options->isa ? options->isa : named_isa();
    int threads = options && options->threads > 0 ? options->threads : 1;
    struct dg_cpu *cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return dg_error_set(err, DG_ENOMEM, "no memory for a CPU backend");
    const struct choice *choice = NULL;
    int rc = choose_isa(name, &choice, err);
    if (rc)
        goto out;
    cpu->isa = choice->isa;
    cpu->int8 = choice->int8;
    cpu->bf16 = choice->bf16;
    cpu->products = DG_F32;
    cpu->threads = cpu->active = (size_t)threads;
    size_t floats = cpu->threads * DG_TASKS_PER_THREAD * DG_ATTN_QUERIES * DG_ATTN_KEYS;
    cpu->scratch = aligned_alloc(64, floats * sizeof(float));
    cpu->prepared = aligned_alloc(64, DG_PREPARED_BYTES);
    cpu->int8_acts = calloc(DG_PREPARED_ROWS, sizeof *cpu->int8_acts);
    if (!cpu->scratch || !cpu->prepared || !cpu->int8_acts) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for the scratch space of %d threads", threads);
        goto out;
    }
    if (threads > 1 && (rc = dg_pool_open(threads, options->nice, &cpu->pool, err)))
        goto out;
    snprintf(cpu->name, sizeof cpu->name, "cpu/%s", choice->name);
    cpu->base.ops = &ops;
    cpu->base.name = cpu->name;
    *out = &cpu->base;
    cpu = NULL;
out:
    dg_cpu_close(cpu ? &cpu->base : NULL);
    return rc;
}

void dg_cpu_close(struct dg_backend *be)
{
    if (!be)
        return;
    struct dg_cpu *cpu = dg_cpu_of(be);
    dg_pool_close(cpu->pool);
    free(cpu->scratch);
    free(cpu->prepared);
    free(cpu->int8_acts);
    free(cpu);
}

void dg_cpu_set_gemm(struct dg_backend *be, dg_cpu_gemm_fn *fn, void *ctx)
{
    dg_cpu_of(be)->gemm = fn;
    dg_cpu_of(be)->gemm_ctx = ctx;
}

void dg_cpu_set_products(struct dg_backend *be, enum dg_type type)
{
    dg_cpu_of(be)->products = type;
}

size_t dg_cpu_pieces(const struct dg_cpu *cpu, size_t units, double cost)
{
    if (cpu->active < 2 || units < 2 || cost < DG_SPLIT_COST)
        return 1;
    size_t pieces = cpu->active * DG_TASKS_PER_THREAD;
    return pieces < units ? pieces : units;
}
