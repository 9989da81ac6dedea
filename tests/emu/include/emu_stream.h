/* A stream of the emulated CUDA (tests/emu/stream.cc). The emulated NCCL works in a thread of its
 * own, as a device does beside the host, and counts here what it was given and what it has done (by
 * __atomic_*, which C and C++ share). */
#ifndef DG_EMU_STREAM_H
#define DG_EMU_STREAM_H

#include <stdint.h>

struct dg_emu_queue;

struct dg_emu_stream {
    int device;
    uint64_t given, done;       /* sums of NCCL's */
    struct dg_emu_queue *queue; /* everything else */
};

#endif
