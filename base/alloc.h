/* Allocation that never fails, for programs that cannot continue without memory: the trainer and
 * the command line. Out of memory ends the program with a message and exit code 1; only these
 * functions do that. Nothing that the server links may call them: in the server a request fails and
 * the server continues. Any thread. */
#ifndef DG_BASE_ALLOC_H
#define DG_BASE_ALLOC_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* n elements of `size` bytes, all zero; never NULL. `what` names them in the message: "the index of
 * a shard". Caller frees. */
void *dg_alloc(size_t n, size_t size, const char *what);
/* Resizes p (NULL: no memory yet) to n elements; new elements are uninitialised. Never returns
 * NULL; p itself is no longer valid. */
void *dg_alloc_more(void *p, size_t n, size_t size, const char *what);
/* Makes room for n elements in an array (NULL: none yet) that has room for *cap: it at least
 * doubles, so that elements may be added one by one. New elements are uninitialised. Never returns
 * NULL. */
void *dg_alloc_grow(void *p, size_t n, size_t *cap, size_t size, const char *what);
char *dg_alloc_string(const char *s);
/* The text that printf would print. */
char *dg_alloc_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "dir/name". */
char *dg_alloc_path(const char *dir, const char *name);

/* n zero elements of an arena, and a copy of s there: never NULL. */
void *dg_alloc_arena(struct dg_arena *arena, size_t n, size_t size);
char *dg_alloc_arena_string(struct dg_arena *arena, const char *s);

/* Check another function's allocation: end the program if it failed (`there` is false). */
void dg_alloc_check(bool there, const char *what);

#endif
