/* Warnings that concern the words of a sentence: they look like another language's, or the answer
 * has one untranslated. Tags and protected spans are none of its words. Private to translate/. One
 * thread at a time per job. */
#ifndef DG_TRANSLATE_PART_WORDS_H
#define DG_TRANSLATE_PART_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct dg_draft;
struct dg_job;
struct dg_part;

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
