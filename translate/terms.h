/* The glossary's terms of a sentence as pieces of the target vocabulary, which the search must
 * produce, and a check that an answer has them. Only translate/ includes this. One thread at a time
 * per job.
 *
 * A term is written as in its entry. Besides, with a capital where the answer begins; and in
 * capitals throughout where the sentence is. */
#ifndef DG_TRANSLATE_TERMS_H
#define DG_TRANSLATE_TERMS_H

#include "translate/job_internal.h"

/* Of the vocabulary t. */
int dg_word_pieces_open(
    const struct dg_tokenizer *t, struct dg_word_pieces *out, struct dg_error *err);
void dg_word_pieces_close(struct dg_word_pieces *w);

/* The search for p, made fit for its terms: a wider beam, and room for their pieces. */
void dg_part_widen(const struct dg_job *j, const struct dg_part *p, struct dg_search *s);
/* Find the terms in p's text, and set p->terms for the search. Those that the vocabulary cannot
 * write, or that find no room, are flagged. */
int dg_part_find_terms(struct dg_job *j, struct dg_part *p, struct dg_error *err);
/* Flag p where its answer s[n], before marks are put back, lacks one of its terms. */
void dg_part_check_terms(struct dg_part *p, const char *s, size_t n);

#endif
