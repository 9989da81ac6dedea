/* Bump allocation with one free at the end: a request's or a file's memory.
 * One thread at a time. Memory is zeroed, 16-byte aligned, and lives until reset or deinit. */
#ifndef DG_BASE_ARENA_H
#define DG_BASE_ARENA_H

#include <stddef.h>

struct dg_arena_block;

struct dg_arena {
    struct dg_arena_block *head;
    /* given out since the last reset */
    size_t used_bytes;
    /* held from malloc, block headers included */
    size_t held_bytes;
    /* 0 = none */
    size_t limit_bytes;
};

void dg_arena_init(struct dg_arena *arena, size_t limit_bytes);

/* Allocate n bytes (n = 0 gives a valid pointer). NULL when memory or the limit is exhausted. */
void *dg_arena_alloc(struct dg_arena *arena, size_t n);

/* count * size with overflow check. */
void *dg_arena_array(struct dg_arena *arena, size_t count, size_t size);

/* A NUL-terminated copy of n bytes. */
char *dg_arena_strndup(struct dg_arena *arena, const char *s, size_t n);
char *dg_arena_strdup(struct dg_arena *arena, const char *s);

/* Free everything but one block, which is kept for reuse. */
void dg_arena_reset(struct dg_arena *arena);
void dg_arena_deinit(struct dg_arena *arena);

#endif
