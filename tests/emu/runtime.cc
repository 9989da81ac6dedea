/* CUDA's runtime API on host memory: one device that is always there, unless
 * DRAGOMAN_EMU_DEVICES says how many. DRAGOMAN_EMU_FAIL=N makes the N-th wait for the device fail,
 * and all after it, as a broken device does. */
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>

static std::atomic<long> waits;

static bool broken()
{
    const char *at = getenv("DRAGOMAN_EMU_FAIL");
    return at && waits >= atol(at);
}

extern "C" {

cudaError_t cudaGetDeviceCount(int *n)
{
    const char *count = getenv("DRAGOMAN_EMU_DEVICES");
    *n = count ? atoi(count) : 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int)
{
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int)
{
    snprintf(p->name, sizeof p->name, "emulated on the host");
    p->major = 9;
    p->minor = 0;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return broken() ? cudaErrorLaunchFailure : cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t e)
{
    return e == cudaSuccess                 ? "no error"
           : e == cudaErrorMemoryAllocation ? "out of memory"
                                            : "unspecified launch failure";
}

const char *cudaGetErrorName(cudaError_t e)
{
    return e == cudaSuccess                 ? "cudaSuccess"
           : e == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
                                            : "cudaErrorLaunchFailure";
}

/* Not zeroed: device memory is not. */
cudaError_t cudaMalloc(void **p, size_t bytes)
{
    *p = bytes < (size_t)1 << 40 ? aligned_alloc(256, (bytes + 255) / 256 * 256) : nullptr;
    if (*p)
        memset(*p, 0xFF, bytes < 1 << 20 ? bytes : 1 << 20);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void *p)
{
    free(p);
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    *p = malloc(bytes);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void *p)
{
    free(p);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(
    void *to, const void *from, size_t bytes, enum cudaMemcpyKind, cudaStream_t)
{
    memcpy(to, from, bytes);
    return broken() ? cudaErrorLaunchFailure : cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t)
{
    memset(p, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = nullptr;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    waits++;
    return broken() ? cudaErrorLaunchFailure : cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t)
{
    return cudaSuccess;
}

/* A block of an A100 has 164 KB of shared memory, 163 of them for the taking. */
cudaError_t cudaFuncSetAttribute(const void *, enum cudaFuncAttribute, int value)
{
    return value <= 163 * 1024 ? cudaSuccess : cudaErrorInvalidValue;
}
}
