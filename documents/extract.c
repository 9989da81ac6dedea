#include "documents/extract.h"

#include "documents/declared_language.h"
#include "documents/kinds.h"
#include "documents/strings/forms/forms.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A translation may have this many times the bytes that an unpacked file may have. */
#define MOST_GROWTH 2

const struct dg_extract_limits dg_extract_limits_default = {.file_bytes = 64u << 20,
    .unpacked_bytes = 256u << 20,
    .tags = 16u << 20,
    .texts = 500000,
    .text_bytes = 64u << 20};

static int by_place(const void *a, const void *b)
{
    const struct dg_segment *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Sort the segments by their bytes, outer ones first, and list all texts. */
static int list_texts(struct dg_extract *x, struct dg_error *err)
{
    x->texts = malloc((x->n_texts + 1) * sizeof *x->texts);
    if (!x->texts)
        return dg_error_set(err, DG_ENOMEM, "no memory for the texts of a file");
    x->n_texts = 0;
    for (size_t i = 0; i < x->n_parts; i++) {
        struct dg_extract_part *p = &x->parts[i];
        if (p->n_segments)
            qsort(p->segments, p->n_segments, sizeof *p->segments, by_place);
        for (size_t k = 0; k < p->n_segments; k++) {
            struct dg_segment *g = &p->segments[k];
            if (!g->text)
                continue;
            g->index = x->n_texts;
            x->texts[x->n_texts++] = g;
        }
    }
    return DG_OK;
}

/* Check that p->s[p->n] is text in UTF-8. */
static int check_text(const struct dg_extract *x, struct dg_error *err)
{
    const struct dg_extract_part *p = &x->parts[0];
    struct dg_error why = {0};
    if (memchr(p->s, '\0', p->n))
        return dg_error_field(err, DG_EINVAL, "file",
            "the file has the character U+0000: it is not text, or it is UTF-16 without a byte "
            "order mark (save it as UTF-8)");
    if (dg_utf8_check(p->s, p->n, &why) == DG_OK)
        return DG_OK;
    return dg_error_field(err, DG_EINVAL, "file",
        "the file is not UTF-8: %s (save it as UTF-8, or as UTF-16 with a byte order mark)",
        why.message);
}

/* Read a file that is itself text: UTF-8, with or without a byte-order mark, or UTF-16 with one. */
static int read_whole(struct dg_extract *x, struct dg_error *err)
{
    int rc = DG_OK;
    struct dg_error why = {0};
    struct dg_extract_part *p = dg_extract_add_part(x, err);
    if (!p)
        return DG_ENOMEM;
    p->s = x->bytes;
    p->n = x->n;
    x->utf16 = dg_utf16_mark(x->bytes, x->n);
    if (x->utf16 != DG_UTF16_NONE) {
        rc = dg_utf16_read(x->utf16, x->bytes, x->n, &p->own, &p->n, err);
        p->s = p->own;
    }
    if (rc == DG_OK)
        rc = check_text(x, err);
    if (rc != DG_OK)
        return rc;
    rc = x->kind->read(x, p, &why);
    return rc == DG_OK       ? DG_OK
           : rc == DG_ENOMEM ? dg_error_set(err, rc, "%s", why.message)
                             : dg_error_field(err, rc, "file", "%s", why.message);
}

int dg_extract_open(const char *name, const char *bytes, size_t n, const char *target,
    const struct dg_extract_limits *limits, struct dg_extract **out, struct dg_error *err)
{
    const struct dg_kind *kind = dg_kind_find(name);
    *out = NULL;
    if (!kind)
        return dg_extract_unknown(name, err);
    if (n > limits->file_bytes)
        return dg_error_field(err, DG_ELIMIT, "file", "the file has %zu bytes, the limit is %zu", n,
            limits->file_bytes);
    struct dg_extract *x = calloc(1, sizeof *x);
    if (!x)
        return dg_error_set(err, DG_ENOMEM, "no memory for a file");
    *x = (struct dg_extract){.kind = kind, .bytes = bytes, .n = n, .limits = *limits};
    if (!dg_language_usual(target, x->target))
        snprintf(x->target, sizeof x->target, "%s", target);
    dg_declared_language_init(x);
    int rc = kind->read ? read_whole(x, err) : dg_package_read(x, err);
    if (rc == DG_OK)
        rc = dg_extract_drop_kept(x, err);
    if (rc == DG_OK)
        rc = list_texts(x, err);
    if (rc == DG_OK)
        *out = x;
    else
        dg_extract_close(x);
    return rc;
}

static void close_part(struct dg_extract_part *p)
{
    for (size_t i = 0; i < p->n_segments; i++)
        dg_segment_free(&p->segments[i]);
    free(p->segments);
    free(p->own);
}

void dg_extract_close(struct dg_extract *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->n_parts; i++)
        close_part(&x->parts[i]);
    free(x->parts);
    free(x->texts);
    dg_buffer_deinit(&x->kept);
    free(x);
}

size_t dg_extract_count(const struct dg_extract *x)
{
    return x->n_texts;
}

void dg_extract_text(const struct dg_extract *x, size_t i, struct dg_extract_text *out)
{
    const struct dg_segment *g = x->texts[i];
    *out = (struct dg_extract_text){g->text, g->n, g->format, g->markup};
}

int dg_extract_write(const struct dg_extract *x, const struct dg_extract_answer *answers,
    struct dg_buffer *out, struct dg_error *err)
{
    struct dg_buffer *parts = calloc(x->n_parts + 1, sizeof *parts);
    size_t left = MOST_GROWTH * x->limits.unpacked_bytes;
    bool changed = false;
    int rc = parts ? DG_OK : DG_ENOMEM;
    for (size_t i = 0; i < x->n_parts && rc == DG_OK; i++) {
        struct dg_writer w = {.file = x, .part = &x->parts[i], .answers = answers};
        w.out = &parts[i];
        w.most = left;
        rc = dg_extract_part_write(&w, 0, x->parts[i].n, err);
        if (rc == DG_OK && parts[i].failed)
            rc = DG_ENOMEM;
        if (!w.changed && !w.set)
            dg_buffer_deinit(&parts[i]);
        left -= parts[i].len < left ? parts[i].len : left;
        changed = changed || w.changed;
    }
    if (rc == DG_OK && !changed)
        dg_buffer_add(out, x->bytes, x->n);
    else if (rc == DG_OK && x->utf16 != DG_UTF16_NONE)
        dg_utf16_write(x->utf16, parts[0].data, parts[0].len, out);
    else if (rc == DG_OK && x->kind->read)
        dg_buffer_add(out, parts[0].data, parts[0].len);
    else if (rc == DG_OK)
        rc = dg_package_write(x, parts, out, err);
    for (size_t i = 0; parts && i < x->n_parts; i++)
        dg_buffer_deinit(&parts[i]);
    free(parts);
    return rc == DG_ENOMEM || out->failed ? dg_error_set(err, DG_ENOMEM, "no memory for a file")
                                          : rc;
}

void dg_extract_stays(const struct dg_extract *x, const struct dg_extract_answer *answers,
    struct dg_extract_stays *out)
{
    struct dg_buffer message = {0};
    *out = x->stays;
    for (size_t i = 0; i < x->n_parts; i++)
        for (size_t k = 0; k < x->parts[i].n_segments; k++) {
            const struct dg_segment *g = &x->parts[i].segments[k];
            struct dg_error why = {0};
            dg_buffer_reset(&message);
            if (g->message && dg_forms_write(g->message, strlen(g->message), &g->pattern,
                                  &answers[g->index], x->target, &message, &why) == DG_EUNSUP)
                dg_extract_note_stay(out, &x->parts[i], g->begin, &why);
        }
    dg_buffer_deinit(&message);
}
