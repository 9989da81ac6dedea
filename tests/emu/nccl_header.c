/* Checks that our declarations of NCCL's functions (kernels/cuda/nccl.h) match NCCL's own header.
 * Compiled where that header exists, and never run. */
#include "kernels/cuda/nccl.h"

#include <nccl.h>

#define SAME(f, ...)                                                                               \
    _Static_assert(_Generic(&f, ncclResult_t(*)(__VA_ARGS__) : 1, default : 0), #f " is another")
SAME(ncclGetVersion, int *);
SAME(ncclGetUniqueId, ncclUniqueId *);
SAME(ncclCommInitRankConfig, ncclComm_t *, int, ncclUniqueId, int, ncclConfig_t *);
SAME(ncclAllReduce, const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t,
    cudaStream_t);
SAME(ncclCommGetAsyncError, ncclComm_t, ncclResult_t *);
SAME(ncclCommFinalize, ncclComm_t);
SAME(ncclCommDestroy, ncclComm_t);
SAME(ncclCommAbort, ncclComm_t);
_Static_assert(_Generic(&ncclGetErrorString, const char *(*)(ncclResult_t) : 1, default : 0),
    "ncclGetErrorString is another");
_Static_assert(_Generic(&ncclGetLastError, const char *(*)(ncclComm_t) : 1, default : 0),
    "ncclGetLastError is another");
_Static_assert(sizeof(ncclResult_t) == sizeof(int) && sizeof(ncclDataType_t) == sizeof(int) &&
                   sizeof(ncclRedOp_t) == sizeof(int),
    "NCCL's enums are ints");
_Static_assert((int)ncclSuccess == DG_NCCL_SUCCESS && (int)ncclInProgress == DG_NCCL_IN_PROGRESS &&
                   (int)ncclFloat32 == DG_NCCL_FLOAT32 && (int)ncclSum == DG_NCCL_SUM &&
                   sizeof(ncclUniqueId) == DG_NCCL_ID_BYTES,
    "NCCL's numbers are others");
_Static_assert(offsetof(ncclConfig_t, version) == offsetof(struct dg_nccl_config, version) &&
                   offsetof(ncclConfig_t, blocking) == offsetof(struct dg_nccl_config, blocking) &&
                   sizeof(ncclConfig_t) >= sizeof(struct dg_nccl_config),
    "NCCL's configuration is another");
