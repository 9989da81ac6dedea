#include "trainer/align/dictionary_internal.h"

#include "base/alloc.h"
#include "base/buffer.h"

#include <stdlib.h>

struct word {
    /* offset of the source in `text`; the target follows it */
    size_t begin;
    uint32_t source_len, target_len;
    bool there, back;
};

struct dg_dictionary {
    struct dg_buffer text;
    /* [n] */
    struct word *list;
    size_t n, cap;
};

struct dg_dictionary *dg_dictionary_new(void)
{
    struct dg_dictionary *w = dg_alloc(1, sizeof *w, "a dictionary");
    dg_buffer_init(&w->text);
    return w;
}

void dg_dictionary_add(struct dg_dictionary *w, const struct dg_dictionary_entry *e)
{
    w->list = dg_alloc_grow(w->list, w->n + 1, &w->cap, sizeof *w->list, "a list of words");
    w->list[w->n++] = (struct word){.begin = w->text.len,
        .source_len = e->source_len,
        .target_len = e->target_len,
        .there = e->there,
        .back = e->back};
    dg_buffer_add(&w->text, e->source, e->source_len);
    dg_buffer_add(&w->text, e->target, e->target_len);
    dg_alloc_check(!w->text.failed, "a dictionary");
}

void dg_dictionary_close(struct dg_dictionary *w)
{
    if (!w)
        return;
    dg_buffer_deinit(&w->text);
    free(w->list);
    free(w);
}

size_t dg_dictionary_count(const struct dg_dictionary *w)
{
    return w->n;
}

struct dg_dictionary_entry dg_dictionary_at(const struct dg_dictionary *w, size_t i)
{
    const struct word *x = &w->list[i];
    const char *source = w->text.data + x->begin;
    return (struct dg_dictionary_entry){.source = source,
        .target = source + x->source_len,
        .source_len = x->source_len,
        .target_len = x->target_len,
        .there = x->there,
        .back = x->back};
}
