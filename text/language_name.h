/* Names of languages, in English and in other languages. Any thread. */
#ifndef DG_TEXT_LANGUAGE_NAME_H
#define DG_TEXT_LANGUAGE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define DG_LANGUAGE_NAME 96 /* bytes, with NUL */

/* "de" -> "German", "pt-BR" -> "Portuguese (Brazil)"; an unknown code: itself. */
void dg_language_name(const char *code, char out[DG_LANGUAGE_NAME]);
/* The same for a reader of another language: "de" for "fr" -> "allemand". An unknown reader's
 * language gives English names. */
void dg_language_name_in(const char *code, const char *reader, char out[DG_LANGUAGE_NAME]);
/* True if the code has a name other than itself. */
bool dg_language_known(const char *code);

#endif
