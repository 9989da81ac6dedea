/* Where an answer has the glossary terms of its sentence. Pure functions; any thread. Private to
 * translate/. */
#ifndef DG_TRANSLATE_DRAFT_TERM_PLACES_H
#define DG_TRANSLATE_DRAFT_TERM_PLACES_H

#include "model/engine/terms.h"
#include "text/glossary.h"
#include "text/sentences/split.h"

/* The glossary's terms that occur in a sentence, each to be rendered by its target. */
struct dg_wanted_terms {
    /* [n] */
    const struct dg_glossary_match *list;
    size_t n;
    /* the sentence is in capitals, and so is its answer */
    bool any_case;
};

/* Where an answer of `len` bytes has its terms: [n] in the order of the wanted ones, end 0 for a
 * term that it lacks. */
struct dg_term_places {
    struct dg_span at[DG_MAX_TERMS + 1];
    size_t n, len;
};

/* Find the terms in the answer s[n], before its marks are put back. */
void dg_term_places_find(
    const struct dg_wanted_terms *wanted, const char *s, size_t n, struct dg_term_places *out);
/* True if the answer lacks one. */
bool dg_term_places_lack(const struct dg_term_places *t);

#endif
