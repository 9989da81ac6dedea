#include "base/thread_block.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Requested sizes vary with the text; rounded up, one block fits most of them. */
enum { ROUND_UP = 64 * 1024 };

/* one per thread */
static __thread struct {
    /* NULL: none, or taken */
    void *block;
    /* bytes of the block, or of the one taken last */
    size_t size;
} kept[DG_THREAD_BLOCK_KINDS];

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void free_all(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < DG_THREAD_BLOCK_KINDS; i++) {
        free(kept[i].block);
        kept[i].block = NULL;
    }
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, free_all) == 0;
}

/* True if this thread's blocks will be freed when it ends. */
static bool ends_known(void)
{
    pthread_once(&once, make_key);
    return has_key && (pthread_getspecific(key) || pthread_setspecific(key, kept) == 0);
}

void *dg_thread_block_take(enum dg_thread_block_kind kind, size_t n)
{
    void *block = kept[kind].block;
    kept[kind].block = NULL;
    if (block && kept[kind].size >= n)
        return block;
    free(block);
    if (n > SIZE_MAX - ROUND_UP)
        return NULL;
    kept[kind].size = (n + ROUND_UP - 1) / ROUND_UP * ROUND_UP;
    return malloc(kept[kind].size);
}

void dg_thread_block_give(enum dg_thread_block_kind kind, void *block)
{
    if (block && kept[kind].size <= DG_THREAD_BLOCK_KEPT && ends_known())
        kept[kind].block = block;
    else
        free(block);
}
