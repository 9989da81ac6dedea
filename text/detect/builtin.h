/* languages.model, built in (builtin.c is made by CMake; scripts/make-language-model makes the
 * file). Constant; any thread. */
#ifndef DG_TEXT_DETECT_BUILTIN_H
#define DG_TEXT_DETECT_BUILTIN_H

#include <stddef.h>

extern const unsigned char dg_detect_builtin[]; /* [dg_detect_builtin_size] */
extern const size_t dg_detect_builtin_size;

#endif
