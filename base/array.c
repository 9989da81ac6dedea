#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

#define FIRST 8 /* elements: most of a file's many lists are short */

void *dg_array_grow(void *list, size_t n, size_t *cap, size_t size)
{
    const size_t more = *cap ? 2 * *cap : FIRST;
    if (n < *cap)
        return list;
    void *p = *cap < SIZE_MAX / 2 / size ? realloc(list, more * size) : NULL;
    if (p)
        *cap = more;
    return p;
}
