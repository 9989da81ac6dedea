/* A dictionary while it is being learned; only dictionary*.c include it. One thread at a time. */
#ifndef DG_TRAINER_ALIGN_DICTIONARY_INTERNAL_H
#define DG_TRAINER_ALIGN_DICTIONARY_INTERNAL_H

#include "trainer/align/dictionary.h"

/* Room for item n of list, which has *cap of them; new ones are zero. */
void *dg_dictionary_room(void *list, uint32_t n, uint32_t *cap, size_t size);

/* Empty, for dg_dictionary_close. */
struct dg_dictionary *dg_dictionary_new(void);
/* Copies what e points to. */
void dg_dictionary_add(struct dg_dictionary *w, const struct dg_dictionary_entry *e);

#endif
