#include "trainer/update/ranks.h"

#include "base/alloc.h"
#include "base/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN "libdragoman-mpi.so"

size_t dg_ranks_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        long n = value ? strtol(value, NULL, 10) : 0;
        if (n > 0)
            return (size_t)n;
    }
    return 1;
}

/* Load the plugin from beside the program, as after a build, or from where packages install it. */
static void *load(void)
{
    static const char *const places[] = {PLUGIN, "../lib/" PLUGIN, "../lib/dragoman/" PLUGIN};
    void *plugin = NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !plugin; i++)
        /* Global, because MPI loads plugins of its own, which need MPI's symbols. */
        plugin = dg_library_open_beside(places[i], RTLD_NOW | RTLD_GLOBAL);
    return plugin;
}

int dg_ranks_open(struct dg_ranks *out, struct dg_error *err)
{
    dg_ranks_plugin_open open = NULL;
    void *plugin = load();
    const char *why = plugin ? NULL : dlerror();
    if (!plugin)
        return dg_error_set(err, DG_ENOTFOUND,
            "training with several ranks needs a build with MPI (libopenmpi-dev): %s",
            why ? why
                : "there is no " PLUGIN " beside the program, in ../lib or in ../lib/dragoman");
    *(void **)&open = dlsym(plugin, DG_RANKS_PLUGIN_SYMBOL);
    if (!open)
        return dg_error_set(err, DG_EFORMAT, "%s: %s", PLUGIN, dlerror());
    return open(out, err); /* the plugin stays loaded: MPI cannot be unloaded */
}

void dg_ranks_close(struct dg_ranks *r)
{
    if (r->close)
        r->close(r->ctx);
    memset(r, 0, sizeof *r);
}

int dg_ranks_gather(const struct dg_ranks *r, uint64_t value, uint64_t *all, struct dg_error *err)
{
    /* 32 bits are exact in a double, and so is their sum with zeros. */
    double *x = dg_alloc(2 * r->ranks, sizeof *x, "ranks");
    x[2 * r->rank] = (double)(value >> 32);
    x[2 * r->rank + 1] = (double)(value & 0xFFFFFFFFu);
    int rc = r->sum_doubles(r->ctx, x, 2 * r->ranks, err);
    for (size_t i = 0; i < r->ranks && !rc; i++)
        all[i] = (uint64_t)x[2 * i] << 32 | (uint64_t)x[2 * i + 1];
    free(x);
    return rc;
}

int dg_ranks_share(const struct dg_ranks *r, unsigned char *bytes, size_t n, struct dg_error *err)
{
    double *x = dg_alloc(n, sizeof *x, "bytes");
    for (size_t i = 0; i < n && r->rank == 0; i++)
        x[i] = bytes[i];
    int rc = r->sum_doubles(r->ctx, x, n, err);
    for (size_t i = 0; i < n && !rc; i++)
        bytes[i] = (unsigned char)x[i];
    free(x);
    return rc;
}

int dg_ranks_agree(const struct dg_ranks *r, bool mine, bool *all, struct dg_error *err)
{
    double n = mine;
    int rc = r->sum_doubles(r->ctx, &n, 1, err);
    *all = !rc && n >= (double)r->ranks;
    return rc;
}

int dg_ranks_same(const struct dg_ranks *r, uint64_t value, const char *what, struct dg_error *err)
{
    uint64_t *all = dg_alloc(r->ranks, sizeof *all, "ranks");
    int rc = dg_ranks_gather(r, value, all, err);
    for (size_t i = 1; i < r->ranks && !rc; i++)
        if (all[i] != all[0])
            rc = dg_error_set(err, DG_EINVAL, "rank %zu has %s other than rank 0's", i, what);
    free(all);
    return rc;
}
