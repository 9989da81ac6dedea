/* Characters that text in Latin letters may come with, common or not: a model that has no piece for
 * one can only spell it in bytes, which it seldom learns. Const: any thread. */
#ifndef DG_TRAINER_DATA_CHARACTERS_H
#define DG_TRAINER_DATA_CHARACTERS_H

#include "base/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* All of Latin-1 and Latin Extended-A that can be seen, punctuation, currencies, superscripts and
 * subscripts, fractions, Greek letters, arrows and signs of mathematics: ascending. */
uint32_t dg_characters_count(void);
uint32_t dg_characters_at(uint32_t i);

/* Append code point c in UTF-8. */
void dg_characters_add(uint32_t c, struct dg_buffer *out);

/* Add to seen[dg_characters_count()] how often the characters beyond ASCII are in the UTF-8 text.
 * One thread at a time for one seen. */
void dg_characters_tally(const char *text, size_t n, uint64_t *seen);
/* Append those beyond ASCII that were seen fewer than DG_CHARACTERS_SELDOM times: a model hardly
 * learns them. */
enum { DG_CHARACTERS_SELDOM = 200 };
void dg_characters_seldom(const uint64_t *seen, struct dg_buffer *out);

#endif
