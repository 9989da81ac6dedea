/* A dictionary while it is being learned; only dictionary*.c include it. One thread at a time. */
#ifndef DG_TRAINER_ALIGN_DICTIONARY_INTERNAL_H
#define DG_TRAINER_ALIGN_DICTIONARY_INTERNAL_H

#include "trainer/align/dictionary.h"

/* A new, empty dictionary; free it with dg_dictionary_close. */
struct dg_dictionary *dg_dictionary_new(void);
/* Copies what e points to. */
int dg_dictionary_add(
    struct dg_dictionary *w, const struct dg_dictionary_entry *e, struct dg_error *err);

#endif
