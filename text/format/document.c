#include "text/format/internal.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN 80 /* bytes of code or an address that the model sees */

const char *const dg_format_names[] = {"text", "wrapped", "srt", "markdown", NULL};

bool dg_format_find(const char *name, enum dg_format *out)
{
    for (int i = 0; dg_format_names[i]; i++) {
        if (strcmp(name, dg_format_names[i]) == 0) {
            *out = (enum dg_format)i;
            return true;
        }
    }
    return false;
}

bool dg_line_at(const char *s, size_t n, size_t at, struct dg_line *out)
{
    if (at >= n)
        return false;
    size_t end = at;
    while (end < n && s[end] != '\n' && s[end] != '\r')
        end++;
    size_t next = end;
    if (next < n)
        next += s[next] == '\r' && next + 1 < n && s[next + 1] == '\n' ? 2 : 1;
    *out = (struct dg_line){at, end, next};
    return true;
}

size_t dg_line_skip_blanks(const char *s, size_t at, size_t end)
{
    while (at < end && (s[at] == ' ' || s[at] == '\t'))
        at++;
    return at;
}

size_t dg_line_indent(const char *s, const struct dg_line *l)
{
    return dg_line_skip_blanks(s, l->begin, l->end);
}

bool dg_line_is_blank(const char *s, const struct dg_line *l)
{
    return dg_line_indent(s, l) == l->end;
}

/* Room for one more; NULL makes the layout fail. */
static void *grow(struct dg_document *l, void *list, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return list;
    size_t more = *cap ? 2 * *cap : 16;
    void *p = realloc(list, more * size);
    if (p)
        *cap = more;
    else
        l->flat.failed = true;
    return p;
}

void dg_document_begin(struct dg_document *l, size_t source)
{
    struct dg_block *p = grow(l, l->blocks, l->n_blocks, &l->blocks_cap, sizeof *p);
    if (!p)
        return;
    l->blocks = p;
    l->blocks[l->n_blocks] = (struct dg_block){l->flat.len, l->flat.len, source, l->n_insets, 0};
}

void dg_document_text(struct dg_document *l, const char *s, size_t begin, size_t end)
{
    dg_buffer_add(&l->flat, s + begin, end - begin);
}

void dg_document_inset(struct dg_document *l, struct dg_inset inset, const char *flat)
{
    struct dg_inset *p = grow(l, l->insets, l->n_insets, &l->insets_cap, sizeof *p);
    if (!p)
        return;
    l->insets = p;
    inset.at = l->flat.len;
    dg_buffer_add(&l->flat, flat, inset.len);
    for (size_t i = inset.at; i < l->flat.len;
         i++) /* code may go over lines; the flat text does not */
        if (l->flat.data[i] == '\n' || l->flat.data[i] == '\r')
            l->flat.data[i] = ' ';
    l->insets[l->n_insets++] = inset;
}

void dg_paragraph_add(struct dg_paragraph *p, const char *s, size_t begin, size_t end)
{
    while (end > begin && (s[end - 1] == ' ' || s[end - 1] == '\t'))
        end--;
    if (end == begin)
        return;
    if (!p->open) {
        p->open = true;
        p->begin = begin;
        p->end = end;
        p->n = 0;
        return;
    }
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 16;
        void *more = realloc(p->breaks, cap * sizeof *p->breaks);
        p->failed = p->failed || !more;
        if (!more)
            return;
        p->breaks = more;
        p->cap = cap;
    }
    p->breaks[p->n][0] = p->end;
    p->breaks[p->n++][1] = begin;
    p->end = end;
}

void dg_paragraph_end(
    struct dg_paragraph *p, struct dg_document *l, const char *s, enum dg_marks marks)
{
    if (p->open && !p->failed) {
        dg_document_begin(l, p->begin);
        dg_document_inline(l, s, p, marks);
        dg_document_end(l);
    }
    p->open = false;
}

void dg_paragraph_deinit(struct dg_paragraph *p, struct dg_document *l)
{
    l->flat.failed = l->flat.failed || p->failed;
    free(p->breaks);
}

void dg_document_end(struct dg_document *l)
{
    if (l->flat.failed)
        return;
    struct dg_block *b = &l->blocks[l->n_blocks];
    b->end = l->flat.len;
    b->n_insets = l->n_insets - b->inset;
    if (b->end > b->at)
        l->n_blocks++;
    else
        l->n_insets = b->inset;
}

int dg_document_open(const char *text, size_t n, enum dg_format format, struct dg_document *out,
    struct dg_error *err)
{
    memset(out, 0, sizeof *out);
    dg_buffer_init(&out->flat);
    switch (format) {
    case DG_FORMAT_TEXT:
    case DG_FORMAT_WRAPPED: dg_document_wrapped(out, text, n); break;
    case DG_FORMAT_SRT: dg_document_srt(out, text, n); break;
    case DG_FORMAT_MARKDOWN: dg_document_markdown(out, text, n); break;
    }
    if (!out->flat.failed)
        return DG_OK;
    dg_document_close(out);
    return dg_error_set(err, DG_ENOMEM, "no memory for the layout of %zu bytes", n);
}

void dg_document_close(struct dg_document *l)
{
    dg_buffer_deinit(&l->flat);
    free(l->blocks);
    free(l->insets);
    memset(l, 0, sizeof *l);
}

size_t dg_inset_shown(const char *s, size_t n)
{
    if (n <= MAX_SHOWN)
        return n;
    n = MAX_SHOWN;
    while (n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80)
        n--;
    return n;
}

size_t dg_document_before(const struct dg_document *l, const struct dg_block *b, size_t at)
{
    size_t lo = 0, hi = b->n_insets;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (l->insets[b->inset + mid].at < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Does the inset lie before byte `at` of flat? */
static bool is_before(const struct dg_inset *inset, size_t at, bool behind)
{
    size_t end = inset->at + inset->len;
    return end < at || (end == at && (inset->len > 0 || behind));
}

size_t dg_document_source(
    const struct dg_document *l, const struct dg_block *b, size_t at, bool behind)
{
    const struct dg_inset *insets = l->insets + b->inset;
    size_t lo = 0, hi = b->n_insets;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (is_before(&insets[mid], at, behind))
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0)
        return b->source + (at - b->at);
    return insets[lo - 1].end + (at - insets[lo - 1].at - insets[lo - 1].len);
}
