/* A stream of the emulated CUDA (tests/emu/stream.cc). The emulated NCCL works in a thread of its
 * own, as a device works beside the host, and counts here the sums it was given and has done (using
 * __atomic_*, which C and C++ share). */
#ifndef DG_EMU_STREAM_H
#define DG_EMU_STREAM_H

#include <stdint.h>

struct dg_emu_queue;

struct dg_emu_stream {
    int device;
    uint64_t given, done;       /* NCCL sums */
    struct dg_emu_queue *queue; /* all other work */
};

#endif
