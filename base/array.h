/* Lists that grow by doubling. One thread at a time. */
#ifndef DG_BASE_ARRAY_H
#define DG_BASE_ARRAY_H

#include <stddef.h>

/* Make room for one more element of `size` bytes in a malloc'd list of n, which has room for *cap
 * (0: it is NULL). Returns the list, which may have moved; NULL: no memory, and it stays as it is.
 */
void *dg_array_grow(void *list, size_t n, size_t *cap, size_t size);

#endif
