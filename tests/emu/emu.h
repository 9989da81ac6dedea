/* Runs kernels on the host, block after block. Each CUDA thread of a block is a fiber (default: the
 * same order in every run, good under AddressSanitizer and UBSan) or a thread of its own
 * (DG_EMU_THREADS: for ThreadSanitizer, which then finds a missing barrier at its line).
 * Fibers switch at barriers and shuffles only; DRAGOMAN_EMU_ORDER=reverse runs them from the last
 * to the first, which makes code that leans on an order fail.
 * Tensor cores' products are loops over the layout that PTX documents (mma.h).
 * Not covered: speed, cuBLAS, what a real memory system reorders. */
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

/* Who is running. */
struct dg_emu_thread {
    dim3 thread, block, block_dim, grid_dim;
};

const dg_emu_thread *dg_emu_self();
void dg_emu_sync_block();
void dg_emu_sync_warp();
/* Every lane of a warp gives `bytes` (at most 32) and gets those of lane ^ lanes. */
void dg_emu_exchange(const void *mine, void *theirs, size_t bytes, int lanes);
/* The same, and gets those of all lanes, one behind another. */
void dg_emu_gather(const void *mine, void *all, size_t bytes);
/* Copies 16 bytes no sooner than the thread waits for its copies. */
void dg_emu_copy(void *to, const void *from);
void dg_emu_copy_wait();
/* The launch's dynamic shared memory. */
unsigned char *dg_emu_shared();
/* As one device (dg_emu_on in stream.h): __shared__ is static. */
void dg_emu_launch(dim3 grid, dim3 block, size_t shared, const std::function<void()> &kernel);

#endif
