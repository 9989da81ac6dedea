#include "base/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noreturn)) static void end(size_t bytes, const char *what)
{
    /* stderr is not buffered: this takes no memory. */
    if (bytes)
        fprintf(stderr, "%s: out of memory: %zu bytes for %s\n", program_invocation_short_name,
            bytes, what);
    else
        fprintf(stderr, "%s: out of memory for %s\n", program_invocation_short_name, what);
    exit(1);
}

void *dg_alloc(size_t n, size_t size, const char *what)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        end(size && n > SIZE_MAX / size ? SIZE_MAX : n * size, what);
    return p;
}

void *dg_alloc_more(void *p, size_t n, size_t size, const char *what)
{
    const size_t bytes = size && n > SIZE_MAX / size ? SIZE_MAX : n * size;
    /* A size of 0 would free p. realloc refuses sizes above half of the address space. */
    p = realloc(p, bytes ? bytes : 1);
    if (!p)
        end(bytes, what);
    return p;
}

void *dg_alloc_grow(void *p, size_t n, size_t *cap, size_t size, const char *what)
{
    if (p && n <= *cap)
        return p;
    const size_t twice = *cap ? 2 * *cap : 64;
    *cap = n > twice ? n : twice;
    return dg_alloc_more(p, *cap, size, what);
}

char *dg_alloc_string(const char *s)
{
    const size_t n = strlen(s) + 1;
    return memcpy(dg_alloc_more(NULL, n, 1, "a string"), s, n);
}

char *dg_alloc_print(const char *format, ...)
{
    char *s = NULL;
    va_list ap;
    va_start(ap, format);
    dg_alloc_check(vasprintf(&s, format, ap) >= 0, "a string");
    va_end(ap);
    return s;
}

char *dg_alloc_path(const char *dir, const char *name)
{
    return dg_alloc_print("%s/%s", dir, name);
}

void *dg_alloc_arena(struct dg_arena *arena, size_t n, size_t size)
{
    void *p = dg_arena_array(arena, n, size);
    dg_alloc_check(p, "an arena");
    return p;
}

char *dg_alloc_arena_string(struct dg_arena *arena, const char *s)
{
    char *copy = dg_arena_strdup(arena, s);
    dg_alloc_check(copy, "an arena");
    return copy;
}

void dg_alloc_check(bool there, const char *what)
{
    if (!there)
        end(0, what);
}
