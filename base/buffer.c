#include "base/buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dg_buffer_init(struct dg_buffer *b)
{
    memset(b, 0, sizeof *b);
}

void dg_buffer_deinit(struct dg_buffer *b)
{
    free(b->data);
    memset(b, 0, sizeof *b);
}

void dg_buffer_reset(struct dg_buffer *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data)
        b->data[0] = '\0';
}

/* Room for n more bytes and the NUL. */
static bool reserve(struct dg_buffer *b, size_t n)
{
    if (b->failed)
        return false;
    if (b->cap - b->len > n)
        return true;
    size_t cap = b->cap ? b->cap : 64;
    char *p = NULL;
    if (n < PTRDIFF_MAX - b->len) { /* so that doubling cannot wrap */
        while (cap - b->len <= n)
            cap *= 2;
        p = realloc(b->data, cap);
    }
    if (!p) {
        b->failed = true;
        return false;
    }
    b->data = p;
    b->cap = cap;
    return true;
}

void dg_buffer_add(struct dg_buffer *b, const void *data, size_t n)
{
    if (!reserve(b, n))
        return;
    if (n)
        memcpy(b->data + b->len, data, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void dg_buffer_adds(struct dg_buffer *b, const char *s)
{
    dg_buffer_add(b, s, strlen(s));
}

void dg_buffer_add_quoted(struct dg_buffer *b, const char *s, size_t n, char quote)
{
    dg_buffer_add(b, &quote, 1);
    for (size_t i = 0; i < n; i++) {
        if (s[i] == quote)
            dg_buffer_add(b, &quote, 1);
        dg_buffer_add(b, s + i, 1);
    }
    dg_buffer_add(b, &quote, 1);
}

void dg_buffer_addf(struct dg_buffer *b, const char *format, ...)
{
    va_list ap, again;
    const size_t room = b->failed ? 0 : b->cap - b->len;
    va_start(ap, format);
    va_copy(again, ap);
    const int n = vsnprintf(room ? b->data + b->len : NULL, room, format, ap);
    va_end(ap);
    const bool fits = n >= 0 && (size_t)n < room;
    if (!fits && room)
        b->data[b->len] = '\0'; /* what is cut off is not part of the buffer */
    if (n < 0)
        b->failed = true;
    else if (!fits && reserve(b, (size_t)n))
        vsnprintf(b->data + b->len, (size_t)n + 1, format, again);
    if (!b->failed)
        b->len += (size_t)n;
    va_end(again);
}

void dg_buffer_fit(struct dg_buffer *b)
{
    char *p = b->data && b->cap > b->len + 1 ? realloc(b->data, b->len + 1) : NULL;
    if (!p)
        return;
    b->data = p;
    b->cap = b->len + 1;
}

char *dg_buffer_take(struct dg_buffer *b, size_t *len)
{
    char *p = NULL;
    if (len)
        *len = 0;
    if (reserve(b, 0)) {
        b->data[b->len] = '\0';
        p = b->data;
        if (len)
            *len = b->len;
        b->data = NULL;
    }
    dg_buffer_deinit(b);
    return p;
}
