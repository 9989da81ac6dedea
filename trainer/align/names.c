/* Reads a list of names and puts those that may replace each other into groups. */
#include "trainer/align/names_internal.h"

#include "base/alloc.h"
#include "trainer/data/corpus.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LANGUAGES = 64 };

/* The cells of a line. */
struct cells {
    const char *s[MOST_LANGUAGES + 1];
    size_t len[MOST_LANGUAGES + 1], n;
};

static void cut(const struct dg_line *line, struct cells *c)
{
    const char *at = line->text, *end = at + line->len;
    for (c->n = 0; c->n <= MOST_LANGUAGES; at++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        c->s[c->n] = at;
        c->len[c->n++] = (size_t)((tab ? tab : end) - at);
        if (!tab)
            return;
        at = tab;
    }
}

static bool cell_is(const struct cells *c, size_t i, const char *s)
{
    return c->len[i] == strlen(s) && memcmp(c->s[i], s, c->len[i]) == 0;
}

/* Finds the columns of the recipe's languages: columns[2 * pair + side]. */
static int read_head(const struct dg_recipe *r, const char *path, const struct cells *c,
    size_t *columns, struct dg_error *err)
{
    if (c->n < 2 || !cell_is(c, 0, "kind"))
        return dg_error_set(err, DG_EFORMAT,
            "%s: the first line must be \"kind\" and language codes, separated by tabs", path);
    for (size_t i = 0; i < 2 * r->data.n_pairs; i++) {
        const struct dg_recipe_pair *p = &r->data.pairs[i / 2];
        const char *code = i % 2 ? p->target_lang : p->source_lang;
        size_t at = 1;
        while (at < c->n && !cell_is(c, at, code))
            at++;
        if (at == c->n)
            return dg_error_field(
                err, DG_EINVAL, "data.names", "%s has no column for %s", path, code);
        columns[i] = at;
    }
    return 0;
}

static bool starts_with(const char *s, size_t n, const char *letters)
{
    for (size_t len; *letters; letters += len) {
        len = (unsigned char)*letters < 0x80 ? 1 : 2;
        if (n >= len && memcmp(s, letters, len) == 0)
            return true;
    }
    return false;
}

static enum dg_name_sound sound_of(const char *s, size_t n)
{
    if (starts_with(s, n, "AEIOUYaeiouyÀÁÂÄÅÆÈÉÊËÌÍÎÏÒÓÔÖØÙÚÛÜÝŒàáâäåæèéêëìíîïòóôöøùúûüýœ"))
        return DG_NAME_VOWEL;
    return starts_with(s, n, "Hh") ? DG_NAME_H : DG_NAME_OTHER;
}

static int add_entry(struct dg_name_lists *p, uint32_t kind, const char *const s[2],
    const size_t n[2], struct dg_error *err)
{
    const uint32_t count = dg_string_table_count(p->both);
    struct dg_buffer both;
    uint32_t id, entry = 0;
    dg_buffer_init(&both);
    int rc = 0;
    for (int i = 0; i < 2 && !rc; i++) {
        dg_buffer_add(&both, s[i], n[i]);
        dg_buffer_add(&both, "\t", i == 0);
        rc = dg_string_table_add(p->names[i], s[i], n[i], &id, err);
    }
    dg_alloc_check(!both.failed, "names");
    if (!rc)
        rc = dg_string_table_add(p->both, both.data, both.len, &entry, err);
    dg_buffer_deinit(&both);
    if (rc || entry < count) /* the same again: its first kind counts */
        return rc;
    p->entries = dg_alloc_grow(p->entries, count + 1, &p->room, sizeof *p->entries, "names");
    p->entries[entry] =
        (struct dg_name_entry){.kind = kind, .sound = {sound_of(s[0], n[0]), sound_of(s[1], n[1])}};
    return 0;
}

static int add_line(
    struct dg_names *n, const struct cells *c, const size_t *columns, struct dg_error *err)
{
    uint32_t kind;
    int rc = dg_string_table_add(n->kinds, c->s[0], c->len[0], &kind, err);
    for (size_t i = 0; i < n->r->data.n_pairs && !rc; i++) {
        const size_t at[2] = {c->n == 2 ? 1 : columns[2 * i], c->n == 2 ? 1 : columns[2 * i + 1]};
        const char *const s[2] = {c->s[at[0]], c->s[at[1]]};
        const size_t len[2] = {c->len[at[0]], c->len[at[1]]};
        if (len[0] && len[1])
            rc = add_entry(&n->pairs[i], kind, s, len, err);
    }
    return rc;
}

static int compare_entries(const void *a, const void *b)
{
    const struct dg_name_entry *const *x = a, *const *y = b;
    const struct dg_name_entry *p = *x, *q = *y;
    if (p->kind != q->kind)
        return p->kind < q->kind ? -1 : 1;
    for (int i = 0; i < 2; i++)
        if (p->sound[i] != q->sound[i])
            return p->sound[i] < q->sound[i] ? -1 : 1;
    return p < q ? -1 : p > q;
}

static bool same_group(const struct dg_name_entry *p, const struct dg_name_entry *q)
{
    return p->kind == q->kind && p->sound[0] == q->sound[0] && p->sound[1] == q->sound[1];
}

/* Puts entries that may replace each other into groups. */
static void make_groups(struct dg_name_lists *p)
{
    const uint32_t n = dg_string_table_count(p->both);
    struct dg_name_entry **sorted = dg_alloc(n + 1, sizeof *sorted, "names");
    uint32_t groups = 0;
    p->order = dg_alloc(n + 1, sizeof *p->order, "names");
    p->groups = dg_alloc(n + 1, sizeof *p->groups, "names");
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = &p->entries[i];
    qsort(sorted, n, sizeof *sorted, compare_entries);
    for (uint32_t i = 0; i < n; i++) {
        if (!i || !same_group(sorted[i], sorted[i - 1]))
            p->groups[groups++] = (struct dg_name_group){.begin = i};
        sorted[i]->group = groups - 1;
        p->groups[groups - 1].n++;
        p->order[i] = (uint32_t)(sorted[i] - p->entries);
    }
    free(sorted);
}

static int read_lines(
    struct dg_names *n, const char *path, struct dg_corpus *file, struct dg_error *err)
{
    size_t *columns = dg_alloc(2 * n->r->data.n_pairs, sizeof *columns, "names");
    struct dg_line line;
    struct cells c;
    size_t width = 0;
    int got, rc = 0;
    for (uint64_t number = 1; !rc && (got = dg_corpus_next_text(file, &line, err)); number++) {
        if (got < 0) {
            rc = got;
            break;
        }
        cut(&line, &c);
        if (number == 1) {
            width = c.n;
            rc = read_head(n->r, path, &c, columns, err);
        } else if (!c.len[0] || c.n < 2 || (c.n == 2 && !c.len[1]) || (c.n > 2 && c.n != width)) {
            rc = dg_error_set(err, DG_EFORMAT,
                "%s: line %llu must have a kind and a name, or one for each of the %zu languages",
                path, (unsigned long long)number, width - 1);
        } else {
            rc = add_line(n, &c, columns, err);
        }
    }
    free(columns);
    if (!rc && !width)
        rc = dg_error_set(err, DG_EFORMAT, "%s is empty", path);
    return rc;
}

int dg_names_open(
    const struct dg_recipe *r, const char *path, struct dg_names **out, struct dg_error *err)
{
    const char *const paths[1] = {path};
    struct dg_corpus *file = NULL;
    struct dg_names *n = *out = dg_alloc(1, sizeof *n, "names");
    n->r = r;
    n->kinds = dg_string_table_new();
    n->pairs = dg_alloc(r->data.n_pairs, sizeof *n->pairs, "names");
    for (size_t i = 0; i < r->data.n_pairs; i++) {
        n->pairs[i].names[0] = dg_string_table_new();
        n->pairs[i].names[1] = dg_string_table_new();
        n->pairs[i].both = dg_string_table_new();
    }
    int rc = dg_corpus_open(paths, 1, &file, err);
    if (!rc)
        rc = read_lines(n, path, file, err);
    dg_corpus_close(file);
    if (rc) {
        dg_names_close(n);
        *out = NULL;
        return rc;
    }
    for (size_t i = 0; i < r->data.n_pairs; i++)
        make_groups(&n->pairs[i]);
    return 0;
}

void dg_names_close(struct dg_names *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->r->data.n_pairs; i++) {
        struct dg_name_lists *p = &n->pairs[i];
        dg_string_table_free(p->names[0]);
        dg_string_table_free(p->names[1]);
        dg_string_table_free(p->both);
        free(p->entries);
        free(p->order);
        free(p->groups);
    }
    dg_string_table_free(n->kinds);
    free(n->pairs);
    free(n);
}
