/* The few functions of NCCL that team.c uses, found in a library at run time: $DRAGOMAN_NCCL, or
 * libnccl.so.2 where the system or the CUDA toolkit has it. Declared here, so that no header of
 * NCCL is needed to build; where there is one, tests/emu/nccl_header.c compares both. Only
 * kernels/cuda includes this. Any thread. */
#ifndef DG_KERNELS_CUDA_NCCL_H
#define DG_KERNELS_CUDA_NCCL_H

#include "base/error.h"

#include <cuda_runtime_api.h>
#include <stddef.h>

struct ncclComm;

/* NCCL's constants, which its interface keeps. */
enum {
    DG_NCCL_SUCCESS = 0,
    DG_NCCL_IN_PROGRESS = 7,
    DG_NCCL_FLOAT32 = 7,
    DG_NCCL_SUM = 0,
    DG_NCCL_ID_BYTES = 128,
    /* the first version whose calls need not block */
    DG_NCCL_LEAST = 21400
};

struct dg_nccl_id {
    char bytes[DG_NCCL_ID_BYTES];
};

/* ncclConfig_t as of 2.14; later versions accept a shorter struct by its size and version. rest:
 * where 2.17 has its first new field. */
struct dg_nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking;
    int rest;
};

/* what: the name, such as "NCCL 2.28.9" */
struct dg_nccl {
    char what[32];
    int (*version)(int *version);
    int (*new_id)(struct dg_nccl_id *id);
    int (*init)(struct ncclComm **comm, int ranks, struct dg_nccl_id id, int rank,
        struct dg_nccl_config *config);
    int (*all_reduce)(const void *send, void *receive, size_t n, int type, int op,
        struct ncclComm *comm, cudaStream_t stream);
    int (*async_error)(struct ncclComm *comm, int *state);
    int (*finalize)(struct ncclComm *comm);
    int (*destroy)(struct ncclComm *comm);
    int (*abort)(struct ncclComm *comm);
    const char *(*error_string)(int result);
    const char *(*last_error)(struct ncclComm *comm);
};

/* Open the library. DG_ENOTFOUND: there is none; DG_EUNSUP: it lacks a function, or is older than
 * DG_NCCL_LEAST. It stays open until the program ends. */
int dg_nccl_open(struct dg_nccl *out, struct dg_error *err);

/* A configuration with which calls return at once. */
struct dg_nccl_config dg_nccl_config(void);

#endif
