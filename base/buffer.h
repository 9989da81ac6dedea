/* A growable byte buffer, always NUL-terminated once it holds anything. One thread at a time. A
 * failed allocation sets `failed` and ignores later writes: check once at the end. */
#ifndef DG_BASE_BUFFER_H
#define DG_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct dg_buffer {
    /* NULL while empty */
    char *data;
    size_t len, cap;
    bool failed;
};

void dg_buffer_init(struct dg_buffer *b); /* a zeroed one needs none */
void dg_buffer_deinit(struct dg_buffer *b);
void dg_buffer_reset(struct dg_buffer *b); /* len = 0, keeps the memory */
void dg_buffer_add(struct dg_buffer *b, const void *data, size_t n);
void dg_buffer_adds(struct dg_buffer *b, const char *s);
/* Append s[n] between two of `quote`, and double each one in it, as CSV and YAML do: 'it''s'. */
void dg_buffer_add_quoted(struct dg_buffer *b, const char *s, size_t n, char quote);
void dg_buffer_addf(struct dg_buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Release unused capacity, once nothing more will be added. */
void dg_buffer_fit(struct dg_buffer *b);
/* Give up ownership of the bytes (malloc'd, NUL-terminated; never NULL unless failed); b is empty
 * afterwards. */
char *dg_buffer_take(struct dg_buffer *b, size_t *len);

#endif
