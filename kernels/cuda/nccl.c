#include "kernels/cuda/nccl.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libnccl.so.2"
#define MAGIC 0xcafebeefu

/* All members below are pointers to functions, which have one size. */
static const struct {
    const char *name;
    size_t at;
} symbols[] = {
    {"ncclGetVersion", offsetof(struct dg_nccl, version)},
    {"ncclGetUniqueId", offsetof(struct dg_nccl, new_id)},
    {"ncclCommInitRankConfig", offsetof(struct dg_nccl, init)},
    {"ncclAllReduce", offsetof(struct dg_nccl, all_reduce)},
    {"ncclCommGetAsyncError", offsetof(struct dg_nccl, async_error)},
    {"ncclCommFinalize", offsetof(struct dg_nccl, finalize)},
    {"ncclCommDestroy", offsetof(struct dg_nccl, destroy)},
    {"ncclCommAbort", offsetof(struct dg_nccl, abort)},
    {"ncclGetErrorString", offsetof(struct dg_nccl, error_string)},
    {"ncclGetLastError", offsetof(struct dg_nccl, last_error)},
};

int dg_nccl_open(struct dg_nccl *out, struct dg_error *err)
{
    const char *named = getenv("DRAGOMAN_NCCL");
    const char *name = named && *named ? named : LIBRARY;
    int version = 0;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return dg_error_set(err, DG_ENOTFOUND, "NCCL cannot be opened: %.300s", dlerror());
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (!symbol)
            return dg_error_set(err, DG_EUNSUP, "%.200s is no NCCL of 2.14 or later: it has no %s",
                name, symbols[i].name);
        memcpy((char *)out + symbols[i].at, &symbol, sizeof symbol);
    }
    if (out->version(&version) != DG_NCCL_SUCCESS || version < DG_NCCL_LEAST)
        return dg_error_set(err, DG_EUNSUP,
            "%.200s is NCCL version %d: 2.14 (%d) or later is needed", name, version,
            DG_NCCL_LEAST);
    snprintf(out->what, sizeof out->what, "NCCL %d.%d.%d", version / 10000, version / 100 % 100,
        version % 100);
    return DG_OK;
}

struct dg_nccl_config dg_nccl_config(void)
{
    return (struct dg_nccl_config){.size = sizeof(struct dg_nccl_config),
        .magic = MAGIC,
        .version = DG_NCCL_LEAST,
        .blocking = 0,
        .rest = INT_MIN}; /* "not set" in all versions */
}
