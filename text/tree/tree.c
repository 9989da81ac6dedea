#include "text/tree/tree.h"

#include <string.h>

static const char blanks[] = " \t\r\n";

/* How treebanks escape what would look like their own notation. */
static const struct {
    const char *written, *text;
} escapes[] = {{"-LRB-", "("}, {"-RRB-", ")"}, {"-LSB-", "["}, {"-RSB-", "]"}, {"-LCB-", "{"},
    {"-RCB-", "}"}, {"``", "\""}, {"''", "\""}};

struct reader {
    const char *text;
    size_t n, at;
    struct dg_arena *arena;
    struct dg_tree *tree;
    /* [depth] the open nodes: their bracket in the tree, or NO_BRACKET */
    uint32_t *open;
    uint32_t depth;
};

#define NO_BRACKET UINT32_MAX

static int refuse(const struct reader *r, const char *what, struct dg_error *err)
{
    return dg_error_set(err, DG_EFORMAT, "byte %zu of the tree: %s", r->at, what);
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->n && strchr(blanks, r->text[r->at]))
        r->at++;
}

/* A label or a word: up to a blank or a parenthesis. */
static size_t take_atom(struct reader *r, const char **atom)
{
    *atom = r->text + r->at;
    size_t begin = r->at;
    while (r->at < r->n && !strchr(" \t\r\n()", r->text[r->at]))
        r->at++;
    return r->at - begin;
}

/* NP-SBJ-1 and NP=2 are NP; -LRB- and -NONE- are whole names. */
static size_t name_length(const char *label, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (label[0] != '-' && (label[i] == '-' || label[i] == '='))
            return i;
    return n;
}

static bool is(const char *s, size_t n, const char *word)
{
    return n == strlen(word) && memcmp(s, word, n) == 0;
}

static const char *unescape(struct dg_arena *arena, const char *s, size_t n)
{
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++)
        if (is(s, n, escapes[i].written))
            return escapes[i].text;
    return dg_arena_strndup(arena, s, n);
}

static int no_memory(struct dg_error *err)
{
    return dg_error_set(err, DG_ENOMEM, "no memory for a tree");
}

/* Read what follows the tag of (TAG word), up to and including the closing parenthesis. */
static int take_word(struct reader *r, const char *tag, size_t n_tag, struct dg_error *err)
{
    const char *word;
    size_t n = take_atom(r, &word);
    skip_blanks(r);
    if (r->at == r->n || r->text[r->at] != ')')
        return refuse(r, "a word must be followed by )", err);
    r->at++;
    if (is(tag, n_tag, "-NONE-"))
        return 0;
    struct dg_tree_word *w = &r->tree->words[r->tree->n_words++];
    w->text = unescape(r->arena, word, n);
    w->tag = dg_arena_strndup(r->arena, tag, n_tag);
    return w->text && w->tag ? 0 : no_memory(err);
}

static int open_node(struct reader *r, const char *label, size_t n, struct dg_error *err)
{
    n = name_length(label, n);
    r->open[r->depth] = NO_BRACKET;
    if (n && !is(label, n, "ROOT") && !is(label, n, "TOP")) {
        char *name = dg_arena_strndup(r->arena, label, n);
        if (!name)
            return no_memory(err);
        r->open[r->depth] = r->tree->n_brackets;
        r->tree->brackets[r->tree->n_brackets++] =
            (struct dg_bracket){.label = name, .begin = r->tree->n_words};
    }
    r->depth++;
    return 0;
}

/* An empty bracket is the last one of the tree, because those within it were removed before. */
static void close_node(struct reader *r)
{
    uint32_t bracket = r->open[--r->depth];
    if (bracket == NO_BRACKET)
        return;
    if (r->tree->brackets[bracket].begin == r->tree->n_words)
        r->tree->n_brackets = bracket;
    else
        r->tree->brackets[bracket].end = r->tree->n_words;
}

static int read_node(struct reader *r, struct dg_error *err)
{
    const char *label;
    if (r->text[r->at] == ')') {
        if (r->depth == 0)
            return refuse(r, ") closes nothing", err);
        close_node(r);
        r->at++;
        return 0;
    }
    if (r->text[r->at] != '(')
        return refuse(
            r, r->depth ? "a word must have a tag: (TAG word)" : "a tree begins with (", err);
    r->at++;
    skip_blanks(r);
    size_t n = take_atom(r, &label);
    skip_blanks(r);
    if (r->at < r->n && !strchr("()", r->text[r->at]))
        return take_word(r, label, n, err);
    return open_node(r, label, n, err);
}

int dg_tree_read(
    const char *text, size_t n, struct dg_arena *arena, struct dg_tree *out, struct dg_error *err)
{
    struct reader r = {.text = text, .n = n, .arena = arena, .tree = out};
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most += text[i] == '(';
    *out = (struct dg_tree){.words = dg_arena_array(arena, most, sizeof *out->words),
        .brackets = dg_arena_array(arena, most, sizeof *out->brackets)};
    r.open = dg_arena_array(arena, most, sizeof *r.open);
    if (!out->words || !out->brackets || !r.open)
        return no_memory(err);
    int rc = 0;
    skip_blanks(&r);
    while (r.at < r.n && !rc) {
        rc = read_node(&r, err);
        skip_blanks(&r);
    }
    return rc || !r.depth ? rc : refuse(&r, "it ends within a bracket", err);
}

static void write_escaped(const char *s, struct dg_buffer *out)
{
    for (; *s; s++) {
        if (*s == '(')
            dg_buffer_adds(out, "-LRB-");
        else if (*s == ')')
            dg_buffer_adds(out, "-RRB-");
        else
            dg_buffer_add(out, s, 1);
    }
}

void dg_tree_write(const struct dg_tree *t, struct dg_buffer *out)
{
    uint32_t next = 0;
    dg_buffer_adds(out, "(TOP");
    for (uint32_t w = 0; w < t->n_words; w++) {
        while (next < t->n_brackets && t->brackets[next].begin == w)
            dg_buffer_addf(out, " (%s", t->brackets[next++].label);
        dg_buffer_addf(out, " (%s ", t->words[w].tag);
        write_escaped(t->words[w].text, out);
        dg_buffer_adds(out, ")");
        for (uint32_t b = 0; b < next; b++)
            if (t->brackets[b].end == w + 1)
                dg_buffer_adds(out, ")");
    }
    dg_buffer_adds(out, ")");
}

void dg_tree_write_words(const struct dg_tree *t, struct dg_buffer *out)
{
    for (uint32_t w = 0; w < t->n_words; w++)
        dg_buffer_addf(out, "%s%s", w ? " " : "", t->words[w].text);
}
