/* Characters that occur in text in Latin script, common or rare. A model without a piece for a
 * character can only spell it in bytes, which it seldom learns. Constant data: any thread. */
#ifndef DG_TRAINER_DATA_CHARACTERS_H
#define DG_TRAINER_DATA_CHARACTERS_H

#include "base/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* All visible characters of Latin-1 and Latin Extended-A, punctuation, currencies, superscripts and
 * subscripts, fractions, Greek letters, arrows and mathematical signs, in ascending order. */
uint32_t dg_characters_count(void);
uint32_t dg_characters_at(uint32_t i);

/* Append code point c in UTF-8. */
void dg_characters_add(uint32_t c, struct dg_buffer *out);

/* Add to seen[dg_characters_count()] how often each listed character beyond ASCII occurs in the
 * UTF-8 text. One thread at a time per seen array. */
void dg_characters_tally(const char *text, size_t n, uint64_t *seen);
/* Append the listed characters beyond ASCII that were seen fewer than DG_CHARACTERS_SELDOM times: a
 * model hardly learns them. */
enum { DG_CHARACTERS_SELDOM = 200 };
void dg_characters_seldom(const uint64_t *seen, struct dg_buffer *out);

#endif
