/* From the engine's answers to text: finish.c (the whole text, or a sentence of it), part_answer.c
 * (a sentence), decode.c (the text of its tokens), part_words.c (warnings about its words),
 * align_words.c. One thread at a time per job. */
#ifndef DG_TRANSLATE_ANSWER_ANSWER_H
#define DG_TRANSLATE_ANSWER_ANSWER_H

#include "translate/draft/draft.h"
#include "translate/job/job.h"

/* Mean log-probability of its tokens; 0 if there are none. */
double dg_part_confidence(const struct dg_part_hyp *h);

/* Append one answer's text with unknown tokens replaced; sets p->flags for the best answer only. */
int dg_part_write(struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    struct dg_buffer *out, struct dg_error *err);

/* Pair the words of the sentence with those of the best answer's text s[n], whose tokens end at
 * p->ends counted from `base`: at most one pair a token, in the job's arena. */
int dg_part_word_pairs(struct dg_job *j, const struct dg_part *p, const char *s, size_t n,
    size_t base, struct dg_word_pairs *out, struct dg_error *err);

/* Append a part's answer of that rank; rank 0 also sets its flags. */
int dg_part_answer(struct dg_job *j, struct dg_part *p, uint32_t rank, struct dg_buffer *out,
    struct dg_error *err);

/* Fill out->alignments for the best answer's text. where[n_parts], sentences[n_parts]: each part's
 * bytes and characters there. */
int dg_job_align(struct dg_job *j, const char *target, const struct dg_span *where,
    const struct dg_answer_sentence *sentences, struct dg_answers *out, struct dg_error *err);

/* The source token that token `at` of the best answer is aligned with; NULL if there is no
 * alignment, or it is </s> or a tag. */
const struct dg_token *dg_part_source_of(const struct dg_part *p, uint32_t at);
/* Remember where token i of the best answer ends, for its alignment. */
void dg_part_note_end(struct dg_part *p, const struct dg_part_hyp *h, uint32_t i, size_t end);

/* Append the text of an answer's tokens, each unknown token replaced by text of the source; one
 * that nothing in the source corresponds to is left out: "⁇" is never shown. *unknown: any came
 * from the source or was left out. */
int dg_part_decode(const struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    struct dg_buffer *out, bool *unknown, struct dg_error *err);

/* Warnings that concern the words of a sentence: tags and protected spans are none of them. */

/* True if p's words are clearly in another language than the source's. */
bool dg_part_looks_foreign(const struct dg_job *j, const struct dg_part *p);
/* True if p's answer, whose terms were looked for, has one of p's words untranslated outside
 * them. */
bool dg_part_has_copied(
    const struct dg_job *j, const struct dg_part *p, const struct dg_draft *answer);
/* True if p's answer s[n], with its marks, lacks a foreign letter or a sign of p outside glossary
 * terms (dg_foreign_lost, dg_number_sign_lost). */
bool dg_part_has_lost(const struct dg_job *j, const struct dg_part *p, const char *s, size_t n);

#endif
