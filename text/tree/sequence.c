/* Writes a tree as a sequence of symbols, and restores a tree from a sequence that may be
 * broken. */
#include "text/tree/tree.h"

#include <string.h>

void dg_tree_write_sequence(const struct dg_tree *t, struct dg_buffer *out)
{
    uint32_t next = 0;
    for (uint32_t w = 0; w < t->n_words; w++) {
        while (next < t->n_brackets && t->brackets[next].begin == w)
            dg_buffer_addf(out, "(%s ", t->brackets[next++].label);
        dg_buffer_adds(out, DG_TREE_WORD);
        /* Inner brackets opened later and close first. */
        for (uint32_t b = next; b-- > 0;)
            if (t->brackets[b].end == w + 1)
                dg_buffer_addf(out, " )%s", t->brackets[b].label);
        if (w + 1 < t->n_words)
            dg_buffer_adds(out, " ");
    }
}

struct restoring {
    struct dg_tree *tree;
    struct dg_arena *arena;
    struct dg_tree_repairs *repairs;
    /* how many words have their XX */
    uint32_t word;
    /* [depth] the open brackets, outermost first */
    uint32_t *open, depth;
};

/* An empty bracket is the last one of the tree, because those within it were removed before. */
static void close_innermost(struct restoring *r)
{
    uint32_t b = r->open[--r->depth];
    if (r->tree->brackets[b].begin == r->word)
        r->tree->n_brackets = b;
    else
        r->tree->brackets[b].end = r->word;
}

/* ")NP" closes the innermost open NP and all brackets within it. */
static void take_close(struct restoring *r, const char *label, size_t n)
{
    uint32_t at = r->depth;
    while (at > 0) {
        const char *open = r->tree->brackets[r->open[at - 1]].label;
        if (strlen(open) == n && memcmp(open, label, n) == 0)
            break;
        at--;
    }
    if (at == 0) {
        r->repairs->ignored++;
        return;
    }
    r->repairs->closed += r->depth - at;
    while (r->depth >= at)
        close_innermost(r);
}

static int take_open(struct restoring *r, const char *label, size_t n)
{
    char *name = dg_arena_strndup(r->arena, label, n);
    if (!name)
        return DG_ENOMEM;
    r->open[r->depth++] = r->tree->n_brackets;
    r->tree->brackets[r->tree->n_brackets++] = (struct dg_bracket){.label = name, .begin = r->word};
    return 0;
}

static int take_symbol(struct restoring *r, const char *s, size_t n)
{
    bool bracket = n > 1 && (s[0] == '(' || s[0] == ')');
    for (size_t i = 1; i < n && bracket; i++)
        bracket = s[i] != '(' && s[i] != ')';
    if (bracket && s[0] == '(')
        return take_open(r, s + 1, n - 1);
    if (bracket)
        take_close(r, s + 1, n - 1);
    else if (n != strlen(DG_TREE_WORD) || memcmp(s, DG_TREE_WORD, n) != 0)
        r->repairs->ignored++;
    else if (r->word == r->tree->n_words)
        r->repairs->surplus++;
    else
        r->word++;
    return 0;
}

/* Adds words without an XX to the outermost bracket; if that is not around all earlier words, puts
 * an S around everything. */
static void add_missing(struct restoring *r)
{
    struct dg_tree *t = r->tree;
    r->repairs->missing = t->n_words - r->word;
    if (r->repairs->missing == 0)
        return;
    if (t->n_brackets && t->brackets[0].begin == 0 && t->brackets[0].end == r->word) {
        t->brackets[0].end = t->n_words;
        return;
    }
    memmove(t->brackets + 1, t->brackets, t->n_brackets * sizeof *t->brackets);
    t->brackets[0] = (struct dg_bracket){"S", 0, t->n_words};
    t->n_brackets++;
}

int dg_tree_restore(const char *sequence, const char *const *words, uint32_t n_words,
    struct dg_arena *arena, struct dg_tree *out, struct dg_tree_repairs *repairs,
    struct dg_error *err)
{
    size_t most = 1; /* one more than the sequence opens: the S of add_missing */
    for (const char *s = sequence; *s; s++)
        most += *s == '(';
    struct restoring r = {.tree = out,
        .arena = arena,
        .repairs = repairs,
        .open = dg_arena_array(arena, most, sizeof *r.open)};
    *repairs = (struct dg_tree_repairs){0};
    *out = (struct dg_tree){.words = dg_arena_array(arena, n_words, sizeof *out->words),
        .n_words = n_words,
        .brackets = dg_arena_array(arena, most, sizeof *out->brackets)};
    int rc = out->words && out->brackets && r.open ? 0 : DG_ENOMEM;
    for (uint32_t w = 0; w < n_words && !rc; w++) {
        out->words[w] = (struct dg_tree_word){dg_arena_strdup(arena, words[w]), DG_TREE_WORD};
        rc = out->words[w].text ? 0 : DG_ENOMEM;
    }
    for (const char *s = sequence + strspn(sequence, " "); *s && !rc;) {
        size_t n = strcspn(s, " ");
        rc = take_symbol(&r, s, n);
        s += n + strspn(s + n, " ");
    }
    if (rc)
        return dg_error_set(err, rc, "no memory for a tree");
    repairs->closed += r.depth;
    while (r.depth)
        close_innermost(&r);
    add_missing(&r);
    return 0;
}
