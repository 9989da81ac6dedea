/* Is a text surely in another language than the one expected? By CLD2 (the one file that knows it
 * is langcheck.cc). Short texts and close relatives stay undecided, which counts as right: the
 * check removes what is plainly wrong. */
#ifndef DG_TRAINER_DATA_LANGCHECK_H
#define DG_TRAINER_DATA_LANGCHECK_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Built with CLD2? Without it dg_langcheck_wrong is always false, so callers refuse to start when
 * it is asked for. */
bool dg_langcheck_available(void);

/* Does the detector know this language (ISO 639-1 code, "zh-Hant" and the like by their first
 * part)? */
bool dg_langcheck_knows(const char *lang);

/* text[n] is valid UTF-8. Languages that the detector does not know are never wrong. Any thread. */
bool dg_langcheck_wrong(const char *text, size_t n, const char *lang);

#ifdef __cplusplus
}
#endif

#endif
