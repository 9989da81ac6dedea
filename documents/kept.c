/* Texts that stay as they are because something else in the file names them. */
#include "documents/segments.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The byte after the tag, the reference or the escape _xHHHH_ that begins at s[at]; at: none does.
 */
static size_t skip_sign(const char *s, size_t at, size_t n)
{
    const char close = s[at] == '<' ? '>' : s[at] == '&' ? ';' : 0;
    if (s[at] == '_' && n - at >= 7 && s[at + 1] == 'x' && s[at + 6] == '_')
        return at + 7;
    const char *end = close ? memchr(s + at, close, n - at) : NULL;
    return end ? (size_t)(end - s) + 1 : at;
}

/* Append the letters and digits of markup s[n]: files write the same text with different escapes
 * and white space. */
static void add_key(const char *s, size_t n, struct dg_buffer *out)
{
    for (size_t i = 0, next; i < n; i = i < next ? next : i + 1) {
        next = skip_sign(s, i, n);
        if (next == i && ((unsigned char)s[i] >= 0x80 || isalnum((unsigned char)s[i])))
            dg_buffer_add(out, s + i, 1);
    }
}

void dg_extract_keep(struct dg_extract *x, const char *s, size_t n)
{
    add_key(s, n, &x->kept);
    dg_buffer_add(&x->kept, "", 1);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The keys in order, malloc'd; NULL: no memory. */
static const char **list_keys(const struct dg_buffer *kept, size_t *n)
{
    size_t all = 0;
    for (size_t at = 0; at < kept->len; at++)
        all += kept->data[at] == '\0';
    const char **keys = malloc(all * sizeof *keys);
    *n = 0;
    for (size_t at = 0; keys && at < kept->len; at += strlen(kept->data + at) + 1)
        keys[(*n)++] = kept->data + at;
    if (keys)
        qsort(keys, *n, sizeof *keys, by_key);
    return keys;
}

int dg_extract_drop_kept(struct dg_extract *x, struct dg_error *err)
{
    struct dg_buffer key = {0};
    size_t n = 0;
    if (x->kept.len == 0 && !x->kept.failed)
        return DG_OK;
    const char **keys = x->kept.failed ? NULL : list_keys(&x->kept, &n);
    key.failed = !keys;
    for (size_t i = 0; i < x->n_parts; i++) {
        struct dg_extract_part *p = &x->parts[i];
        const size_t n_segments = p->n_segments;
        p->n_segments = 0;
        for (size_t k = 0; k < n_segments; k++) {
            dg_buffer_reset(&key);
            add_key(p->segments[k].text, p->segments[k].n, &key);
            const char *wanted = key.data;
            if (!key.failed && key.len > 0 && bsearch(&wanted, keys, n, sizeof *keys, by_key))
                dg_segment_free(&p->segments[k]);
            else
                p->segments[p->n_segments++] = p->segments[k];
        }
    }
    const bool failed = key.failed;
    dg_buffer_deinit(&key);
    free(keys);
    return failed ? dg_error_set(err, DG_ENOMEM, "no memory for the texts of a file") : DG_OK;
}
