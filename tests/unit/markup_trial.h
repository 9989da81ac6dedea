/* A document "translated" word for word into capitals, and assembled by the code that assembles
 * translations, so that the place of every mark can be written down by hand. */
#ifndef DG_TESTS_UNIT_MARKUP_TRIAL_H
#define DG_TESTS_UNIT_MARKUP_TRIAL_H

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "text/format/document.h"
#include "translate/layout/decorate.h"

struct trial {
    const char *s;
    struct dg_document d;
    struct dg_arena arena;
    bool capitals; /* else the answer is the text itself */
};

static inline size_t trial_end(const struct trial *t, const struct dg_unit *u)
{
    return dg_document_source(&t->d, u, u->end, true);
}

static inline size_t trial_words(const char *s, size_t n)
{
    size_t words = 0;
    for (size_t i = 0; i < n; i++)
        words += !strchr(" \t\r\n", s[i]) && (i == 0 || strchr(" \t\r\n", s[i - 1]));
    return words;
}

/* Returns the answer of the stand-in model for unit u. */
static inline char *trial_answer(struct trial *t, const struct dg_unit *u)
{
    size_t n = u->end - u->at;
    char *answer = dg_arena_strndup(&t->arena, t->d.text.data + u->at, n);
    for (size_t i = 0; i < n && t->capitals; i++)
        answer[i] = (char)toupper((unsigned char)answer[i]);
    for (size_t k = u->mark; k < u->mark + u->n_marks; k++)
        if (t->d.marks[k].kind == DG_MARK_PROTECTED)
            memcpy(answer + t->d.marks[k].at - u->at, t->d.text.data + t->d.marks[k].at,
                t->d.marks[k].len);
    return answer;
}

static inline void trial_unit(struct trial *t, size_t i, struct dg_buffer *out);

/* Appends bytes begin .. end of the source, with the units within them that come after unit i. */
static inline void trial_bytes(
    struct trial *t, size_t i, size_t begin, size_t end, struct dg_buffer *out)
{
    for (size_t k = i; k < t->d.n_units; k++) {
        const struct dg_unit *u = &t->d.units[k];
        if (u->source < begin || trial_end(t, u) > end)
            continue;
        dg_buffer_add(out, t->s + begin, u->source - begin);
        trial_unit(t, k, out);
        begin = trial_end(t, u);
    }
    dg_buffer_add(out, t->s + begin, end - begin);
}

static inline void trial_unit(struct trial *t, size_t i, struct dg_buffer *out)
{
    const struct dg_unit *u = &t->d.units[i];
    size_t n = u->end - u->at, n_pairs = trial_words(t->d.text.data + u->at, n);
    struct dg_mark *marks = dg_arena_array(&t->arena, u->n_marks, sizeof *marks);
    struct dg_mark_bytes *bytes = dg_arena_array(&t->arena, u->n_marks, sizeof *bytes);
    struct dg_word_pair *pairs = dg_arena_array(&t->arena, n_pairs, sizeof *pairs);
    for (size_t k = 0; k < u->n_marks; k++) {
        struct dg_buffer b;
        marks[k] = t->d.marks[u->mark + k];
        dg_buffer_init(&b);
        trial_bytes(t, i + 1, marks[k].begin, marks[k].end, &b);
        bytes[k] =
            (struct dg_mark_bytes){dg_arena_strndup(&t->arena, b.data ? b.data : "", b.len), b.len};
        dg_buffer_deinit(&b);
        marks[k].at -= u->at;
    }
    for (uint32_t k = 0; k < n_pairs; k++)
        pairs[k] = (struct dg_word_pair){k, k};
    struct dg_decoration d = {.text = t->d.text.data + u->at,
        .len = n,
        .marks = marks,
        .bytes = bytes,
        .n = u->n_marks,
        .answer = trial_answer(t, u),
        .answer_len = n,
        .pairs = pairs,
        .n_pairs = n_pairs,
        .encoding = u->encoding};
    dg_decorate(&d, &t->arena, out, NULL);
}

/* Returns the document s in capitals (or unchanged); the caller frees it. NULL: it could not be
 * read. */
static inline char *trial_run(const char *s, enum dg_format format, const struct dg_markup *markup,
    bool capitals, struct dg_error *err)
{
    struct trial t = {.s = s, .capitals = capitals};
    struct dg_buffer out;
    size_t n = strlen(s), at = 0;
    if (dg_document_open_markup(s, n, format, markup, &t.d, err))
        return NULL;
    dg_arena_init(&t.arena, 0);
    dg_buffer_init(&out);
    for (;;) { /* the next unit that is not within the previous one */
        size_t next = t.d.n_units;
        for (size_t k = 0; k < t.d.n_units; k++)
            if (t.d.units[k].source >= at &&
                (next == t.d.n_units || t.d.units[k].source < t.d.units[next].source))
                next = k;
        if (next == t.d.n_units)
            break;
        dg_buffer_add(&out, s + at, t.d.units[next].source - at);
        trial_unit(&t, next, &out);
        at = trial_end(&t, &t.d.units[next]);
    }
    dg_buffer_add(&out, s + at, n - at);
    dg_arena_deinit(&t.arena);
    dg_document_close(&t.d);
    return dg_buffer_take(&out, &n);
}

/* Checks Markdown in capitals, and that it comes back if its words do. */
static inline void trial_expect_markdown(const char *text, const char *want)
{
    struct dg_error err = {0};
    char *got = trial_run(text, DG_FORMAT_MARKDOWN, NULL, true, &err);
    assert_non_null(got);
    assert_string_equal(got, want);
    free(got);
    got = trial_run(text, DG_FORMAT_MARKDOWN, NULL, false, &err);
    assert_string_equal(got, text);
    free(got);
}

#endif
