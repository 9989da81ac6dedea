/* What languages are called, in English and in other languages. Any thread. */
#ifndef DG_TEXT_LANGUAGE_NAME_H
#define DG_TEXT_LANGUAGE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define DG_LANGUAGE_NAME 96 /* bytes, with NUL */

/* "de" -> "German", "pt-BR" -> "Portuguese (Brazil)"; a code that is none: itself. */
void dg_language_name(const char *code, char out[DG_LANGUAGE_NAME]);
/* The same for a reader of another language: "de" for "fr" -> "allemand". A reader whose language
 * is not known gets the names of English. */
void dg_language_name_in(const char *code, const char *reader, char out[DG_LANGUAGE_NAME]);
/* Does the code have a name of its own? */
bool dg_language_known(const char *code);

#endif
