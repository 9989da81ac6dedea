/* What languages are called in English. Any thread. */
#ifndef DG_TEXT_LANGUAGE_NAME_H
#define DG_TEXT_LANGUAGE_NAME_H

#include <stddef.h>

#define DG_LANGUAGE_NAME 96 /* bytes, with NUL */

/* "de" -> "German", "pt-BR" -> "Portuguese (Brazil)"; a code that is none: itself. */
void dg_language_name(const char *code, char out[DG_LANGUAGE_NAME]);

#endif
