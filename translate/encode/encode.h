/* From a text to the ids of its sentences: encode.c (texts that stay whole, prefixes, pairs to
 * score), encode_text.c (splits a document's units into sentences), part_marks.c (their marks),
 * encode_part.c (their ids), terms.c (their glossary terms). One thread at a time per job. */
#ifndef DG_TRANSLATE_ENCODE_ENCODE_H
#define DG_TRANSLATE_ENCODE_ENCODE_H

#include "translate/job/job.h"

/* Encode all parts of the job's text. */
int dg_job_encode_sentences(struct dg_job *j, struct dg_error *err);
/* While encoding: true if the next part's answer may be adapted to the source; false for the
 * sentence that a user's prefix begins. */
bool dg_job_answer_is_free(const struct dg_job *j);

/* Make p the sentence `at` (bytes of the document's text) of unit u, with the marks that are its
 * own. */
int dg_part_of_document(struct dg_job *j, struct dg_part *p, const struct dg_document *d,
    const struct dg_unit *u, struct dg_span at, struct dg_error *err);

/* Tokenize s[n] into p's text and tokens. dg_part_frame then sets p->ids = tags? tokens </s>? */
int dg_part_tokenize(struct dg_job *j, const struct dg_tokenizer *tokenizer, const char *s,
    size_t n, struct dg_part *p, struct dg_error *err);
int dg_part_frame(struct dg_job *j, struct dg_part *p, struct dg_error *err);
/* Write the ids of a source's tags (each may be NULL) to ids[2]; returns their number. */
uint32_t dg_source_tags(
    const struct dg_translator *t, const char *source_tag, const char *tag, int32_t *ids);
/* Most tokens that a source may have, with its tags and </s>. */
uint32_t dg_job_most_source_tokens(const struct dg_job *j);
/* Encode the text of p that the model sees, or mark p as copied. DG_EAGAIN: it is over the token
 * limit. */
int dg_part_encode(struct dg_job *j, struct dg_part *p, struct dg_error *err);
/* Find the terms in p's text, outside its protected spans, and set p->terms for the search. Sets
 * DG_FLAG_GLOSSARY_MISSED for terms that the vocabulary cannot write or that find no room. */
int dg_part_find_terms(struct dg_job *j, struct dg_part *p, struct dg_error *err);

#endif
