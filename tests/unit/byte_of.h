/* For tests of answers: offsets in answers are code points, in C they are bytes. */
#ifndef DG_TESTS_UNIT_BYTE_OF_H
#define DG_TESTS_UNIT_BYTE_OF_H

#include <stddef.h>

/* Returns the byte offset of code point n. */
static inline size_t byte_of(const char *s, size_t n)
{
    size_t i = 0;
    for (; n; n--)
        do
            i++;
        while ((s[i] & 0xC0) == 0x80);
    return i;
}

#endif
