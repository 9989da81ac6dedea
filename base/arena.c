#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Size of the first block, and the size up to which later blocks grow. The first is small because
 * thousands of short texts may be queued, each with an arena. */
#define FIRST_BLOCK_BYTES ((size_t)2048)
#define BLOCK_BYTES ((size_t)16384)
#define ALIGN ((size_t)16)

struct dg_arena_block {
    struct dg_arena_block *next;
    size_t size, used;
    _Alignas(16) unsigned char data[];
};

void dg_arena_init(struct dg_arena *arena, size_t limit_bytes)
{
    arena->head = NULL;
    arena->used_bytes = arena->held_bytes = 0;
    arena->limit_bytes = limit_bytes;
}

static struct dg_arena_block *block_new(struct dg_arena *arena, size_t size)
{
    struct dg_arena_block *b = malloc(sizeof *b + size);
    if (!b)
        return NULL;
    b->next = NULL;
    b->size = size;
    b->used = 0;
    arena->held_bytes += sizeof *b + size;
    return b;
}

static size_t next_size(const struct dg_arena *arena)
{
    const size_t last = arena->head ? arena->head->size : FIRST_BLOCK_BYTES / 2;
    return last < BLOCK_BYTES / 2 ? 2 * last : BLOCK_BYTES;
}

void *dg_arena_alloc(struct dg_arena *arena, size_t n)
{
    if (n > SIZE_MAX / 2)
        return NULL;
    n = (n + ALIGN - 1) & ~(ALIGN - 1);
    if (n == 0)
        n = ALIGN;
    if (arena->limit_bytes && n > arena->limit_bytes - arena->used_bytes)
        return NULL;
    struct dg_arena_block *b = arena->head;
    if (!b || b->size - b->used < n) {
        const size_t size = next_size(arena);
        b = block_new(arena, n > size ? n : size);
        if (!b)
            return NULL;
        if (arena->head && n > BLOCK_BYTES / 2) { /* keep filling the block we are in */
            b->next = arena->head->next;
            arena->head->next = b;
        } else {
            b->next = arena->head;
            arena->head = b;
        }
    }
    void *p = b->data + b->used;
    b->used += n;
    arena->used_bytes += n;
    memset(p, 0, n);
    return p;
}

void *dg_arena_array(struct dg_arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return dg_arena_alloc(arena, count * size);
}

char *dg_arena_strndup(struct dg_arena *arena, const char *s, size_t n)
{
    char *p = n < SIZE_MAX ? dg_arena_alloc(arena, n + 1) : NULL;
    if (p && n)
        memcpy(p, s, n);
    return p;
}

char *dg_arena_strdup(struct dg_arena *arena, const char *s)
{
    return dg_arena_strndup(arena, s, strlen(s));
}

void dg_arena_reset(struct dg_arena *arena)
{
    struct dg_arena_block *keep = NULL;
    for (struct dg_arena_block *b = arena->head, *next; b; b = next) {
        next = b->next;
        if (!keep && b->size <= BLOCK_BYTES) {
            keep = b;
            keep->next = NULL;
            keep->used = 0;
        } else {
            free(b);
        }
    }
    arena->head = keep;
    arena->used_bytes = 0;
    arena->held_bytes = keep ? sizeof *keep + keep->size : 0;
}

void dg_arena_deinit(struct dg_arena *arena)
{
    for (struct dg_arena_block *b = arena->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    arena->head = NULL;
    arena->used_bytes = arena->held_bytes = 0;
}
