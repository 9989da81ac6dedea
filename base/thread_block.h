/* Large memory blocks that a thread keeps between uses. malloc maps and unmaps a block of this size
 * each time, which took 20 of the 150 us of a sentence from the answer cache. Any thread: each has
 * its own blocks, uses one of a kind at a time, and frees them when it ends. */
#ifndef DG_BASE_THREAD_BLOCK_H
#define DG_BASE_THREAD_BLOCK_H

#include <stddef.h>

enum dg_thread_block_kind { DG_THREAD_BLOCK_JSON, DG_THREAD_BLOCK_SPM, DG_THREAD_BLOCK_KINDS };

/* A larger block is freed when it is given back. */
enum { DG_THREAD_BLOCK_KEPT = 512 * 1024 };

#ifdef __cplusplus
extern "C" {
#endif

/* At least n bytes, not cleared; NULL: out of memory. The caller owns the block until it gives it
 * back, or passes it to free() and then gives nothing back. */
void *dg_thread_block_take(enum dg_thread_block_kind kind, size_t n);
/* Give back the block of this thread's last take of this kind; NULL is allowed. */
void dg_thread_block_give(enum dg_thread_block_kind kind, void *block);

#ifdef __cplusplus
}
#endif

#endif
