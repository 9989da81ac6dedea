#include "documents/segments.h"

#include "base/array.h"
#include "text/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int dg_extract_broken(struct dg_error *err, const char *format, ...)
{
    char why[400];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    dg_error_trim_utf8(why);
    return dg_error_field(err, DG_EINVAL, "file", "the file is broken: %s", why);
}

size_t dg_extract_line_of(const struct dg_extract_part *p, size_t at)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += p->s[i] == '\n';
    return line;
}

void dg_extract_note_stay(struct dg_extract_stays *stays, const struct dg_extract_part *p,
    size_t at, const struct dg_error *why)
{
    if (stays->n++ > 0)
        return;
    stays->line = dg_extract_line_of(p, at);
    snprintf(stays->why, sizeof stays->why, "%.90s", why->message);
}

struct dg_extract_part *dg_extract_add_part(struct dg_extract *x, struct dg_error *err)
{
    struct dg_extract_part *p = realloc(x->parts, (x->n_parts + 1) * sizeof *p);
    if (!p) {
        dg_error_set(err, DG_ENOMEM, "no memory for the parts of a file");
        return NULL;
    }
    x->parts = p;
    p += x->n_parts++;
    *p = (struct dg_extract_part){0};
    return p;
}

/* Count one more text of n bytes; false: the file's limits are exceeded. */
static bool fits(struct dg_extract *x, size_t n, struct dg_error *err)
{
    x->n_texts++;
    x->text_bytes += n;
    if (x->n_texts > x->limits.texts)
        dg_error_field(err, DG_ELIMIT, "file", "the file has more than %zu texts", x->limits.texts);
    else if (x->text_bytes > x->limits.text_bytes)
        dg_error_field(err, DG_ELIMIT, "file", "the file has more than %zu bytes of text",
            x->limits.text_bytes);
    else
        return true;
    return false;
}

struct dg_segment *dg_segment_add(struct dg_extract *x, struct dg_extract_part *p,
    struct dg_segment like, const char *text, size_t n, struct dg_error *err)
{
    if (text && !fits(x, n, err))
        return NULL;
    struct dg_segment *more = dg_array_grow(p->segments, p->n_segments, &p->cap, sizeof *more);
    if (!more)
        goto no_memory;
    p->segments = more;
    struct dg_segment *g = &p->segments[p->n_segments];
    *g = like;
    if (text && !(g->text = strndup(text, n)))
        goto no_memory;
    g->n = n;
    g->order = p->n_segments++;
    return g;
no_memory:
    dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    return NULL;
}

int dg_segment_add_own(
    struct dg_extract *x, struct dg_extract_part *p, struct dg_segment like, struct dg_error *err)
{
    return dg_segment_add(x, p, like, p->s + like.begin, like.end - like.begin, err) ? DG_OK
                                                                                     : err->code;
}

int dg_segment_add_text(struct dg_extract *x, struct dg_extract_part *p, struct dg_segment like,
    const struct dg_buffer *text, struct dg_error *err)
{
    if (text->failed)
        return dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    return dg_segment_add(x, p, like, text->data, text->len, err) ? DG_OK : err->code;
}

int dg_segment_add_bytes(struct dg_extract *x, struct dg_extract_part *p, struct dg_span at,
    enum dg_writing writing, const char *bytes, struct dg_error *err)
{
    const struct dg_segment like = {.begin = at.begin, .end = at.end, .writing = writing};
    struct dg_segment *g = dg_segment_add(x, p, like, NULL, 0, err);
    if (!g || !(g->before = strdup(bytes)))
        return dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    return DG_OK;
}

int dg_segment_enclose(struct dg_segment *g, struct dg_buffer *before, const char *after, size_t n,
    struct dg_error *err)
{
    g->linked = true;
    g->before = dg_buffer_take(before, NULL);
    g->after = strndup(after, n);
    return g->before && g->after ? DG_OK
                                 : dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
}

void dg_segment_free(struct dg_segment *g)
{
    free(g->text);
    free(g->message);
    free(g->before);
    free(g->after);
    free(g->slots);
}

int dg_slot_add(struct dg_segment *g, struct dg_slot slot, struct dg_error *err)
{
    struct dg_slot *more = dg_array_grow(g->slots, g->n_slots, &g->slots_cap, sizeof *more);
    if (!more)
        return dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    g->slots = more;
    g->slots[g->n_slots++] = slot;
    return DG_OK;
}
