#include "trainer/align/dictionary_internal.h"

#include "base/alloc.h"
#include "trainer/data/string_table.h"

#include <stdlib.h>

struct dg_dictionary {
    struct dg_arena texts;
    /* [n] */
    struct dg_dictionary_entry *list;
    size_t n, cap;
    struct dg_string_table *sources;
    /* [sources] index of the source's first entry */
    uint32_t *first;
    size_t first_cap;
};

struct dg_dictionary *dg_dictionary_new(void)
{
    struct dg_dictionary *w = dg_alloc(1, sizeof *w, "a dictionary");
    dg_arena_init(&w->texts, 0);
    w->sources = dg_string_table_new();
    return w;
}

void dg_dictionary_close(struct dg_dictionary *w)
{
    if (!w)
        return;
    dg_arena_deinit(&w->texts);
    dg_string_table_free(w->sources);
    free(w->first);
    free(w->list);
    free(w);
}

static const char *copy(struct dg_dictionary *w, const char *s, uint32_t n)
{
    const char *c = dg_arena_strndup(&w->texts, s, n);
    dg_alloc_check(c, "a dictionary");
    return c;
}

int dg_dictionary_add(
    struct dg_dictionary *w, const struct dg_dictionary_entry *e, struct dg_error *err)
{
    const uint32_t known = dg_string_table_count(w->sources);
    uint32_t source;
    int rc = dg_string_table_add(w->sources, e->source, e->source_len, &source, err);
    if (rc)
        return rc;
    w->list = dg_alloc_grow(w->list, w->n + 1, &w->cap, sizeof *w->list, "a dictionary");
    w->first = dg_alloc_grow(
        w->first, (size_t)source + 1, &w->first_cap, sizeof *w->first, "a dictionary");
    if (source == known)
        w->first[source] = (uint32_t)w->n;
    struct dg_dictionary_entry *own = &w->list[w->n++];
    *own = *e;
    own->source = copy(w, e->source, e->source_len);
    own->target = copy(w, e->target, e->target_len);
    return 0;
}

size_t dg_dictionary_count(const struct dg_dictionary *w)
{
    return w->n;
}

struct dg_dictionary_entry dg_dictionary_at(const struct dg_dictionary *w, size_t i)
{
    return w->list[i];
}

bool dg_dictionary_find(
    const struct dg_dictionary *w, const char *s, size_t n, struct dg_dictionary_entry *out)
{
    uint32_t source;
    if (!w || !dg_string_table_find(w->sources, s, n, &source))
        return false;
    *out = w->list[w->first[source]];
    return true;
}
