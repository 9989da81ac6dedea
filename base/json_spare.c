#include "base/json_spare.h"

#include "base/thread_block.h"

#include <stdint.h>
#include <stdlib.h>

/* A token's buffer grows by doubling, and may be as long as the text. From DG_JSON_SPARE_STEP bytes
 * jansson makes at most one value per three bytes, the largest of 208 bytes ({}). */
enum { VALUES_BYTES = 128 * DG_JSON_SPARE_STEP, ALIGNMENT = 16 };

/* one per thread */
static __thread struct {
    char *block;       /* NULL: none */
    size_t size, used; /* bytes */
    bool wanted;       /* malloc failed while there was a block */
    bool lost;         /* malloc failed while there was none */
} spare;

bool dg_json_spare_begin(size_t n)
{
    if (n > SIZE_MAX / 4)
        return false;
    spare.size = 2 * n + VALUES_BYTES;
    spare.used = 0;
    spare.wanted = false;
    spare.block = dg_thread_block_take(DG_THREAD_BLOCK_JSON, spare.size);
    return spare.block != NULL;
}

bool dg_json_spare_used(void)
{
    return spare.wanted;
}

void dg_json_spare_end(void)
{
    dg_thread_block_give(DG_THREAD_BLOCK_JSON, spare.block);
    spare.block = NULL;
}

bool dg_json_spare_lost(void)
{
    const bool lost = spare.lost;
    spare.lost = false;
    return lost;
}

void *dg_json_spare_malloc(size_t n)
{
    void *p = malloc(n);
    if (!p && !spare.block)
        spare.lost = true;
    if (p || !spare.block)
        return p;
    spare.wanted = true;
    if (n > spare.size - spare.used)
        return NULL;
    p = spare.block + spare.used;
    const size_t taken = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    spare.used += taken < spare.size - spare.used ? taken : spare.size - spare.used;
    return p;
}

void dg_json_spare_free(void *p)
{
    const uintptr_t at = (uintptr_t)p, block = (uintptr_t)spare.block;
    if (!spare.block || at < block || at >= block + spare.size)
        free(p);
}
