/* Signs in an answer that mean nothing: U+FFFD from byte tokens that make no character, U+2047
 * for unknown ones, controls, marks of direction and of no width. Private to translate/. Any
 * thread. */
#ifndef DG_TRANSLATE_STRAY_H
#define DG_TRANSLATE_STRAY_H

#include "base/buffer.h"

#include <stdbool.h>

/* Take such signs that neither `allowed` text (NUL-terminated, or NULL) has out of what text has
 * from `from` on, with one of the blanks around each; ends[n], bytes of the whole text after each
 * token, move with it. Was there any? */
bool dg_stray_drop(
    const char *const allowed[2], struct dg_buffer *text, size_t from, size_t *ends, size_t n);

#endif
