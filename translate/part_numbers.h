/* Writes an answer's numbers in its language's notation: a copied German "3.200" would mean 3.2 in
 * English. Private to translate/. One thread at a time per job. */
#ifndef DG_TRANSLATE_PART_NUMBERS_H
#define DG_TRANSLATE_PART_NUMBERS_H

#include "base/buffer.h"

#include <stddef.h>

struct dg_job;
struct dg_part;

/* Rewrite the numbers of p's answer, which is `text` from byte `from` on. A number with the digits
 * of a source number but another value in the target language becomes that source number; glossary
 * terms stay as they are. Shifts ends[n] (byte offsets in the whole text, ascending). */
void dg_part_write_numbers(const struct dg_job *j, const struct dg_part *p, struct dg_buffer *text,
    size_t from, size_t *ends, size_t n);

/* Replace bytes at[0] .. at[1] of the text by s[n], and shift ends[n_ends]. */
void dg_part_splice(struct dg_buffer *text, const size_t at[2], const char *s, size_t n,
    size_t *ends, size_t n_ends);

/* Restore the case of the sentence's units in p's answer, which is `text` from byte `from` on: "20
 * Mg" becomes "20 mg". */
void dg_part_write_units(const struct dg_part *p, struct dg_buffer *text, size_t from);

#endif
