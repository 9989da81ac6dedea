/* Glossary terms of a sentence as pieces of the target vocabulary, which the search must produce.
 * Only translate/ includes this. One thread at a time per job.
 *
 * A term is written as in its entry; also with a capital where the answer begins, and in capitals
 * throughout where the sentence is. */
#ifndef DG_TRANSLATE_TERMS_H
#define DG_TRANSLATE_TERMS_H

#include "translate/job_internal.h"

/* Classify the pieces of vocabulary t. */
int dg_word_pieces_open(
    const struct dg_tokenizer *t, struct dg_word_pieces *out, struct dg_error *err);
void dg_word_pieces_close(struct dg_word_pieces *w);

/* While encoding: the glossary whose terms answers must have; NULL: none. */
const struct dg_glossary *dg_job_glossary(const struct dg_job *j);
/* Adapt the search for p to its terms: a wider beam, and room for their pieces. */
void dg_part_widen(const struct dg_job *j, const struct dg_part *p, struct dg_search *s);
/* Find the terms in p's text, outside its protected spans, and set p->terms for the search. Sets
 * DG_FLAG_GLOSSARY_MISSED for terms that the vocabulary cannot write or that find no room. */
int dg_part_find_terms(struct dg_job *j, struct dg_part *p, struct dg_error *err);

#endif
