/* Is a text surely in another language than the one expected? Short texts and close languages stay
 * undecided, which counts as correct: the check finds only clear errors. Any thread. */
#ifndef DG_TEXT_DETECT_LANGCHECK_H
#define DG_TEXT_DETECT_LANGCHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Does the detector know this language (ISO 639-1 code, "zh-Hant" and the like by their first
 * part)? */
bool dg_langcheck_knows(const char *lang);

/* text[n] is valid UTF-8. Languages that the detector does not know are never wrong. */
bool dg_langcheck_wrong(const char *text, size_t n, const char *lang);

#endif
