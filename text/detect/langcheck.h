/* Checks whether a text is certainly in another language than the expected one. Short texts and
 * close languages stay undecided, which counts as correct: the check finds only clear errors. Any
 * thread. */
#ifndef DG_TEXT_DETECT_LANGCHECK_H
#define DG_TEXT_DETECT_LANGCHECK_H

#include <stdbool.h>
#include <stddef.h>

/* True if text[n], valid UTF-8, is certainly not in `lang`. Never true for a language that CLD2
 * does not know (cld2.h). */
bool dg_langcheck_wrong(const char *text, size_t n, const char *lang);

#endif
