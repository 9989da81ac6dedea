/* Matches language codes as people write them with those that models are served under. The rule:
 *   letter case does not matter, '_' is '-', a three-letter code of ISO 639-2 is its two-letter
 *   one ("EN", "de_DE", "eng", "ger"), and "zh-CN" has the script that its region writes, zh-Hans;
 *   then the same code is nearest; next, the request's code may lose subtags from its end ("en-GB"
 *   finds "en", RFC 4647's lookup); last, it may be the beginning of a served code ("pt" finds
 *   "pt-BR").
 * The operator's aliases are applied first. Pure; any thread. */
#ifndef DG_SERVER_MODELS_LANGUAGES_H
#define DG_SERVER_MODELS_LANGUAGES_H

#include "base/error.h"

#include <stdbool.h>

#define DG_LANGUAGE_MAX 36 /* bytes of a code, with NUL */
#define DG_LANGUAGE_WIDER 100

/* The canonical form of a code, which is what is compared; false: too long for a code. */
bool dg_language_canonical(const char *code, char out[DG_LANGUAGE_MAX]);

/* Distance of a served code from the requested one: 0: the same; n: the requested code loses n
 * subtags; DG_LANGUAGE_WIDER + n: the served code has n more subtags; -1: another language. */
int dg_language_distance(const char *asked, const char *served);

/* The same for codes in canonical form; -1 where one is "". */
int dg_language_canonical_distance(const char *asked, const char *served);

/* Check that aliases is "asked=meant,asked=meant,..." (or ""). DG_EINVAL names the entry. */
int dg_language_aliases_check(const char *aliases, struct dg_error *err);
/* The code that asked stands for by the aliases, which were checked: in out, or asked itself. */
const char *dg_language_alias(const char *aliases, const char *asked, char out[DG_LANGUAGE_MAX]);

#endif
