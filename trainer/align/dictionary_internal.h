/* A dictionary while it is being learned; only dictionary*.c include it. One thread at a time. */
#ifndef DG_TRAINER_ALIGN_DICTIONARY_INTERNAL_H
#define DG_TRAINER_ALIGN_DICTIONARY_INTERNAL_H

#include "trainer/align/dictionary.h"

/* Room for item n of list, which has *cap of them; new ones are zero. NULL: out of memory, the list
 * is as it was. */
void *dg_dictionary_room(void *list, uint32_t n, uint32_t *cap, size_t size);

/* Empty, for dg_dictionary_close; NULL on out of memory. */
struct dg_dictionary *dg_dictionary_new(void);
/* Copies what e points to. */
int dg_dictionary_add(
    struct dg_dictionary *w, const struct dg_dictionary_entry *e, struct dg_error *err);

#endif
