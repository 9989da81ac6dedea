/* Opening a CPU backend: the instruction set, the threads, the ops table. */
#include "kernels/cpu/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct dg_ops ops = {
    .device = "cpu",
    .buf_new = dg_cpu_buf_new,
    .buf_free = dg_cpu_buf_free,
    .write = dg_cpu_write,
    .read = dg_cpu_read,
    .weight_new = dg_cpu_weight_new,
    .weight_free = dg_cpu_weight_free,
    .embed = dg_cpu_embed,
    .linear = dg_cpu_linear,
    .add_norm = dg_cpu_add_norm,
    .attention = dg_cpu_attention,
    .kv_write = dg_cpu_kv_write,
    .topk = dg_cpu_topk,
};

static const struct dg_cpu_isa *find_isa(const char *name)
{
    const struct dg_cpu_isa *all[] = {
#ifdef DG_X86
        &dg_cpu_avx512, &dg_cpu_avx2,
#endif
        &dg_cpu_plain
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i]->name, name))
            return all[i];
    return NULL;
}

/* __builtin_cpu_supports also asks whether the operating system saves the registers. */
const char *const *dg_cpu_isas(void)
{
    static const char *const names[] = { "avx512", "avx2", "generic", NULL };
#ifdef DG_X86
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return names;
    if (avx2)
        return names + 1;
#endif
    return names + 2;
}

static int choose_isa(const char *name, const struct dg_cpu_isa **out, struct dg_error *err)
{
    const char *const *isas = dg_cpu_isas();
    char list[64] = "";
    for (size_t i = 0; isas[i]; i++) {
        if (!name || !strcmp(name, isas[i])) {
            *out = find_isa(isas[i]);
            return 0;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", isas[i]);
    }
    return dg_error_field(err, DG_EUNSUP, "isa", "instruction set \"%s\" is not one this machine runs: %s", name, list);
}

int dg_cpu_open(const struct dg_cpu_options *options, struct dg_backend **out, struct dg_error *err)
{
    *out = NULL;
    const char *name = options ? options->isa : NULL;
    int threads = options && options->threads > 0 ? options->threads : 1;
    if (!name)
        name = getenv("DRAGOMAN_ISA");
    if (name && !*name)
        name = NULL;
    struct dg_cpu *cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return dg_error_set(err, DG_ENOMEM, "no memory for a CPU backend");
    int rc = choose_isa(name, &cpu->isa, err);
    if (rc)
        goto out;
    cpu->threads = (size_t)threads;
    size_t floats = cpu->threads * DG_TASKS_PER_THREAD * DG_ATTN_QUERIES * DG_ATTN_KEYS;
    cpu->scratch = aligned_alloc(64, floats * sizeof(float));
    if (!cpu->scratch) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for the scratch space of %d threads", threads);
        goto out;
    }
    if (threads > 1 && (rc = dg_pool_open(threads, &cpu->pool, err)))
        goto out;
    snprintf(cpu->name, sizeof cpu->name, "cpu/%s", cpu->isa->name);
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
    free(cpu);
}

void dg_cpu_set_gemm(struct dg_backend *be, dg_cpu_gemm_fn *fn, void *ctx)
{
    dg_cpu_of(be)->gemm = fn;
    dg_cpu_of(be)->gemm_ctx = ctx;
}

size_t dg_cpu_pieces(const struct dg_cpu *cpu, size_t units, double cost)
{
    if (cpu->threads < 2 || units < 2 || cost < DG_SPLIT_COST)
        return 1;
    size_t pieces = cpu->threads * DG_TASKS_PER_THREAD;
    return pieces < units ? pieces : units;
}
