/* A dictionary's entries by their source words. Const after open: any thread. */
#ifndef DG_TRAINER_ALIGN_DICTIONARY_INDEX_H
#define DG_TRAINER_ALIGN_DICTIONARY_INDEX_H

#include "trainer/align/dictionary.h"

struct dg_dictionary_index;

/* d is borrowed; NULL gives an empty index. */
int dg_dictionary_index_open(
    const struct dg_dictionary *d, struct dg_dictionary_index **out, struct dg_error *err);
void dg_dictionary_index_close(struct dg_dictionary_index *x); /* NULL is fine */
/* Find the first entry whose source is exactly s[n]. */
bool dg_dictionary_index_find(
    const struct dg_dictionary_index *x, const char *s, size_t n, struct dg_dictionary_entry *out);

#endif
