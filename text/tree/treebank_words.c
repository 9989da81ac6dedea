#include "text/tree/treebank_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Marks that may begin or end a run without being part of the word; UTF-8, so strings. */
static const char *const before[] = {
    "\"", "(", "[", "{", "<", "$", "#", "\u00a3", "\u20ac", "\u201c", "\u2018", "\u00ab", NULL};
static const char *const after[] = {"\"", ")", "]", "}", ">", ",", ";", ":", "?", "!", "%", "...",
    "\u2026", "\u201d", "\u00bb", NULL};
static const char *const within[] = {"--", "\u2014", "\u2013", NULL};

/* A run of letters and marks without a blank. */
struct run {
    const char *s;
    size_t n;
};

static void say(struct dg_buffer *out, const char *s, size_t n)
{
    if (n == 0)
        return;
    if (out->len && out->data[out->len - 1] != ' ')
        dg_buffer_add(out, " ", 1);
    dg_buffer_add(out, s, n);
}

/* Bytes of the mark of `list` that r begins with, 0: none. */
static size_t begins(const struct run *r, const char *const *list)
{
    for (; *list; list++) {
        size_t n = strlen(*list);
        if (n <= r->n && memcmp(r->s, *list, n) == 0)
            return n;
    }
    return 0;
}

static size_t ends(const struct run *r, const char *const *list)
{
    for (; *list; list++) {
        size_t n = strlen(*list);
        if (n <= r->n && memcmp(r->s + r->n - n, *list, n) == 0)
            return n;
    }
    return 0;
}

/* The bytes at the end that are a word of their own: n't, 's, 're ...; with ' or its curly form. */
static size_t contraction(const struct run *r)
{
    static const char *const parts[] = {"n't", "'s", "'re", "'ve", "'ll", "'d", "'m", "n\u2019t",
        "\u2019s", "\u2019re", "\u2019ve", "\u2019ll", "\u2019d", "\u2019m", NULL};
    for (const char *const *p = parts; *p; p++) {
        size_t n = strlen(*p);
        if (n < r->n && strncasecmp(r->s + r->n - n, *p, n) == 0)
            return n;
    }
    /* A plural's possessive: the apostrophe alone. */
    if (r->n > 2 && r->s[r->n - 1] == '\'' && tolower((unsigned char)r->s[r->n - 2]) == 's')
        return 1;
    return 0;
}

static bool all_dots(const struct run *r)
{
    size_t n = 0;
    while (n < r->n && r->s[n] == '.')
        n++;
    return n == r->n;
}

/* Write a run without the marks around it, split at the marks within it and at its contraction. */
static void say_core(struct run r, struct dg_buffer *out)
{
    for (size_t i = 1; i + 1 < r.n; i++) {
        const struct run rest = {r.s + i, r.n - i};
        size_t n = begins(&rest, within);
        if (!n || i + n >= r.n)
            continue;
        say_core((struct run){r.s, i}, out);
        say(out, r.s + i, n);
        r = (struct run){r.s + i + n, r.n - i - n};
        i = 0;
    }
    size_t part = contraction(&r);
    say(out, r.s, r.n - part);
    say(out, r.s + r.n - part, part);
}

/* Split the marks off a run, from the outside in. last: the run ends the sentence. */
static void say_run(struct run r, bool last, struct dg_buffer *out)
{
    struct run tail[64];
    size_t n_tail = 0, n;
    while (r.n > 1 && (n = begins(&r, before)) && n < r.n) {
        say(out, r.s, n);
        r = (struct run){r.s + n, r.n - n};
    }
    while (r.n > 1 && n_tail < sizeof tail / sizeof tail[0] && !all_dots(&r)) {
        n = ends(&r, after);
        /* A final full stop ends the sentence; elsewhere it belongs to an abbreviation. */
        if (!n && last && r.s[r.n - 1] == '.') {
            last = false;
            n = 1;
        }
        if (!n || n == r.n)
            break;
        r.n -= n;
        tail[n_tail++] = (struct run){r.s + r.n, n};
    }
    say_core(r, out);
    while (n_tail--)
        say(out, tail[n_tail].s, tail[n_tail].n);
}

void dg_treebank_words(const char *text, size_t n, struct dg_buffer *out)
{
    size_t at = 0;
    while (n && strchr(" \t\r\n", text[n - 1]))
        n--;
    while (at < n) {
        while (at < n && strchr(" \t\r\n", text[at]))
            at++;
        size_t begin = at;
        while (at < n && !strchr(" \t\r\n", text[at]))
            at++;
        say_run((struct run){text + begin, at - begin}, at == n, out);
    }
}
