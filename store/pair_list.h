/* A list of text pairs in memory, copied during a visit (store/memory.h): read from files, or for a
 * glossary. One thread at a time. */
#ifndef DG_STORE_PAIR_LIST_H
#define DG_STORE_PAIR_LIST_H

#include "base/arena.h"
#include "store/memory.h"
#include "text/glossary.h"

struct dg_pair_list {
    struct dg_arena arena;
    /* [n] pairs; their texts are in the arena, NUL-terminated */
    struct dg_memory_pair *list;
    size_t n, cap;
};

void dg_pair_list_init(struct dg_pair_list *l);
void dg_pair_list_deinit(struct dg_pair_list *l);
/* A dg_memory_visit: ctx is the list. A pair without a target (dg_memory_change) stays one, and is
 * no entry of a glossary. */
int dg_pair_list_add(void *ctx, const struct dg_memory_pair *pair, struct dg_error *err);
/* Make a glossary of the pairs in these languages ("de" and "de-AT" agree, see
 * dg_language_same; narrower false: without those whose codes say more than these); *out is NULL if
 * there are none. Of pairs with the same source, those with exactly these codes come first, then
 * the last one. */
int dg_pair_list_glossary(const struct dg_pair_list *l, const char *source_lang,
    const char *target_lang, bool narrower, struct dg_glossary **out, struct dg_error *err);
/* True if a pair agrees with these languages and its codes say more than they do. */
bool dg_pair_list_has_narrower(
    const struct dg_pair_list *l, const char *source_lang, const char *target_lang);

#endif
