/* The tokenizer 13a of mteval-v13a.pl as sacreBLEU implements it: replaces entities, applies four
 * substitutions, each over the whole line from left to right without overlap, then squeezes white
 * space. The substitutions match ASCII only, so they can work on bytes: the bytes of other
 * characters are never digits or marks. */
#include "trainer/score/bleu.h"

#include "trainer/score/ngram.h"

#include <stdbool.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* [\{-\~\[-\` -\&\(-\+\:-\@\/]: the space and all ASCII marks except ' , - . */
static bool is_mark(char c)
{
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
           (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

static bool is_stop(char c)
{
    return c == '.' || c == ',';
}

/* Replace every `from` in b by `to`, left to right. */
static void replace(struct dg_buffer *b, const char *from, const char *to)
{
    size_t n = strlen(from);
    struct dg_buffer out;
    /* A NUL ends the search, as a line with NUL is not text. */
    if (!b->data || !strstr(b->data, from))
        return;
    dg_buffer_init(&out);
    for (size_t i = 0; i < b->len;) {
        bool here = b->len - i >= n && memcmp(b->data + i, from, n) == 0;
        dg_buffer_add(&out, here ? to : b->data + i, here ? strlen(to) : 1);
        i += here ? n : 1;
    }
    out.failed |= b->failed;
    dg_buffer_deinit(b);
    *b = out;
}

/* (mark) -> " mark " */
static void split_marks(const char *s, size_t n, struct dg_buffer *out)
{
    for (size_t i = 0; i < n; i++) {
        char spaced[3] = {' ', s[i], ' '};
        if (is_mark(s[i]))
            dg_buffer_add(out, spaced, 3);
        else
            dg_buffer_add(out, &s[i], 1);
    }
}

/* (not a digit)(. or ,) -> "\1 \2 " */
static void split_behind_nondigit(const char *s, size_t n, struct dg_buffer *out)
{
    for (size_t i = 0; i < n; i++) {
        dg_buffer_add(out, &s[i], 1);
        if (i + 1 < n && !is_digit(s[i]) && is_stop(s[i + 1])) {
            char spaced[3] = {' ', s[++i], ' '};
            dg_buffer_add(out, spaced, 3);
        }
    }
}

/* (. or ,)(not a digit) -> " \1 \2" */
static void split_before_nondigit(const char *s, size_t n, struct dg_buffer *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && is_stop(s[i]) && !is_digit(s[i + 1])) {
            char spaced[4] = {' ', s[i], ' ', s[i + 1]};
            dg_buffer_add(out, spaced, 4);
            i++;
        } else {
            dg_buffer_add(out, &s[i], 1);
        }
    }
}

/* (digit)(-) -> "\1 \2 " */
static void split_dash(const char *s, size_t n, struct dg_buffer *out)
{
    for (size_t i = 0; i < n; i++) {
        dg_buffer_add(out, &s[i], 1);
        if (i + 1 < n && is_digit(s[i]) && s[i + 1] == '-') {
            dg_buffer_add(out, " - ", 3);
            i++;
        }
    }
}

static void squeeze(const char *s, size_t n, struct dg_buffer *out)
{
    size_t start = out->len;
    bool gap = false;
    for (size_t i = 0; i < n;) {
        size_t space = dg_ngram_space(s + i, n - i);
        if (space) {
            gap = true;
            i += space;
            continue;
        }
        if (gap && out->len > start)
            dg_buffer_add(out, " ", 1);
        gap = false;
        dg_buffer_add(out, &s[i++], 1);
    }
}

static void undo_entities(struct dg_buffer *b)
{
    replace(b, "<skipped>", "");
    if (b->len && memchr(b->data, '&', b->len)) {
        replace(b, "&quot;", "\"");
        replace(b, "&amp;", "&");
        replace(b, "&lt;", "<");
        replace(b, "&gt;", ">");
    }
}

void dg_bleu_tokenize(const char *s, size_t n, struct dg_buffer *out)
{
    static void (*const passes[])(const char *, size_t, struct dg_buffer *) = {
        split_marks, split_behind_nondigit, split_before_nondigit, split_dash};
    struct dg_buffer a, b;
    dg_buffer_init(&a);
    dg_buffer_init(&b);
    dg_buffer_add(&a, s, n);
    undo_entities(&a);
    dg_buffer_add(&b, " ", 1);
    dg_buffer_add(&b, a.data, a.len);
    dg_buffer_add(&b, " ", 1);
    b.failed |= a.failed;
    for (size_t i = 0; i < sizeof passes / sizeof passes[0] && !b.failed; i++) {
        dg_buffer_reset(&a);
        passes[i](b.data, b.len, &a);
        struct dg_buffer swap = a;
        a = b;
        b = swap;
    }
    out->failed |= b.failed;
    if (!b.failed)
        squeeze(b.data, b.len, out);
    dg_buffer_deinit(&a);
    dg_buffer_deinit(&b);
}
