/* Characters in an answer that mean nothing: U+FFFD from byte tokens that form no character, U+2047
 * for unknown tokens, control characters, direction marks and zero-width characters, but for
 * joiners within words and emoji, which Persian and Indic words are spelt with. Private to
 * translate/. Any thread. */
#ifndef DG_TRANSLATE_STRAY_H
#define DG_TRANSLATE_STRAY_H

#include "base/buffer.h"

#include <stdbool.h>

/* Remove such characters from `text` from byte `from` on, unless an `allowed` text (NUL-terminated,
 * or NULL) has them; of the blanks around each, one goes with it. Shifts ends[n], the byte offsets
 * in the whole text after each token. True if there was any. */
bool dg_stray_drop(
    const char *const allowed[2], struct dg_buffer *text, size_t from, size_t *ends, size_t n);

#endif
