/* One glossary as it was read: the entries of each language pair. Const, reference-counted: any
 * thread. */
#ifndef DG_SERVER_GLOSSARIES_SET_H
#define DG_SERVER_GLOSSARIES_SET_H

#include "base/error.h"
#include "store/pair_list.h"
#include "text/glossary.h"

#define DG_GLOSSARIES_NAME 64        /* bytes of a glossary's name */
#define DG_GLOSSARIES_PAIRS 64       /* language pairs per glossary */
#define DG_GLOSSARIES_ENTRIES 100000 /* entries per glossary */

struct dg_glossary_set;

/* Make a set of the pairs (copied), under a name of at most DG_GLOSSARIES_NAME bytes. One
 * reference. DG_EINVAL, DG_ELIMIT: no glossary can hold these pairs; DG_ENOMEM. */
int dg_glossary_set_make(const char *name, const struct dg_pair_list *l,
    struct dg_glossary_set **out, struct dg_error *err);
struct dg_glossary_set *dg_glossary_set_ref(struct dg_glossary_set *s);
void dg_glossary_set_unref(struct dg_glossary_set *s); /* NULL is fine */
const char *dg_glossary_set_name(const struct dg_glossary_set *s);
/* The entries for a language pair, borrowed; NULL: it has none. */
struct dg_glossary *dg_glossary_set_pair(
    const struct dg_glossary_set *s, const char *source, const char *target);
/* Language pair i with its number of entries; its codes are borrowed. False: there are fewer. */
bool dg_glossary_set_languages(
    const struct dg_glossary_set *s, size_t i, const char *languages[2], size_t *entries);

#endif
