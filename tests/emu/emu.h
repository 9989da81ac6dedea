/* Runs kernels on the host, block after block. Each CUDA thread of a block is a fiber (the default:
 * the same order in every run, for AddressSanitizer and UBSan) or a thread of its own
 * (DG_EMU_THREADS: for ThreadSanitizer, which then reports a missing barrier at its line). Fibers
 * switch at barriers and shuffles only; DRAGOMAN_EMU_ORDER=reverse runs them from the last to the
 * first, so that code which relies on an order fails. Tensor core products are loops over the
 * layout that PTX documents (mma.h). Not covered: speed, cuBLAS, and reordering by a real memory
 * system. */
#ifndef DG_TESTS_EMU_EMU_H
#define DG_TESTS_EMU_EMU_H

#include <stddef.h>

#include <functional>

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

/* The running thread. */
struct dg_emu_thread {
    dim3 thread, block, grid_dim;
};

const dg_emu_thread *dg_emu_self();
void dg_emu_sync_block();
void dg_emu_sync_warp();
/* Every lane of a warp gives `bytes` (at most 32) and receives those of lane `lane ^ lanes`. */
void dg_emu_exchange(const void *mine, void *theirs, size_t bytes, int lanes);
/* Like dg_emu_exchange, but receives the bytes of all lanes, one after another. */
void dg_emu_gather(const void *mine, void *all, size_t bytes);
/* Requests a copy of 16 bytes, done only when the thread waits for its copies. */
void dg_emu_copy(void *to, const void *from);
void dg_emu_copy_wait();
/* Returns the launch's dynamic shared memory. */
unsigned char *dg_emu_shared();
/* Runs the kernel. The caller holds the device (dg_emu_on in stream.h), since __shared__ is
 * static. */
void dg_emu_launch(dim3 grid, dim3 block, size_t shared, const std::function<void()> &kernel);

#endif
