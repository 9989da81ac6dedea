#include "trainer/align/dictionary_index.h"

#include "base/alloc.h"
#include "trainer/data/string_table.h"

#include <stdlib.h>

struct dg_dictionary_index {
    const struct dg_dictionary *dictionary;
    struct dg_string_table *sources;
    /* [sources] index of the source's first entry in the dictionary */
    uint32_t *entry;
};

int dg_dictionary_index_open(
    const struct dg_dictionary *d, struct dg_dictionary_index **out, struct dg_error *err)
{
    const size_t n = d ? dg_dictionary_count(d) : 0;
    struct dg_dictionary_index *x = dg_alloc(1, sizeof *x, "an index of words");
    x->entry = dg_alloc(n + 1, sizeof *x->entry, "an index of words");
    x->dictionary = d;
    x->sources = dg_string_table_new();
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        const struct dg_dictionary_entry e = dg_dictionary_at(d, i);
        const uint32_t known = dg_string_table_count(x->sources);
        uint32_t id;
        rc = dg_string_table_add(x->sources, e.source, e.source_len, &id, err);
        if (!rc && id == known)
            x->entry[id] = (uint32_t)i;
    }
    if (rc)
        dg_dictionary_index_close(x);
    else
        *out = x;
    return rc;
}

void dg_dictionary_index_close(struct dg_dictionary_index *x)
{
    if (!x)
        return;
    dg_string_table_free(x->sources);
    free(x->entry);
    free(x);
}

bool dg_dictionary_index_find(
    const struct dg_dictionary_index *x, const char *s, size_t n, struct dg_dictionary_entry *out)
{
    uint32_t id;
    if (!dg_string_table_find(x->sources, s, n, &id))
        return false;
    *out = dg_dictionary_at(x->dictionary, x->entry[id]);
    return true;
}
