/* Language codes as people write them against those that models are served under. The rule:
 *   letter case does not matter, '_' is '-', a three-letter code of ISO 639-2 is its two-letter
 *   one ("EN", "de_DE", "eng", "ger"), and "zh-CN" has the script that its region writes, zh-Hans;
 *   then the same code is nearest; next, the request's code may lose subtags from its end ("en-GB"
 * finds "en", RFC 4647's lookup); last, it may be the beginning of a served code ("pt" finds
 * "pt-BR"). Aliases of the operator's come first. Pure; any thread. */
#ifndef DG_SERVER_MODELS_LANGUAGES_H
#define DG_SERVER_MODELS_LANGUAGES_H

#include "base/error.h"

#include <stdbool.h>

#define DG_LANGUAGE_MAX 36 /* bytes of a code, with NUL */
#define DG_LANGUAGE_WIDER 100

/* The code in the form that is compared; false: too long for one. */
bool dg_language_canonical(const char *code, char out[DG_LANGUAGE_MAX]);

/* Distance of a served code from the requested one: 0 the same, 1 and up for each subtag that the
 * asked one loses, DG_LANGUAGE_WIDER and up when served is more special; -1: another language. */
int dg_language_distance(const char *asked, const char *served);

/* Is aliases "asked=meant,asked=meant,..." (or "")? DG_EINVAL names the entry. */
int dg_language_aliases_check(const char *aliases, struct dg_error *err);
/* What asked means by checked aliases: in out, or asked itself. */
const char *dg_language_alias(const char *aliases, const char *asked, char out[DG_LANGUAGE_MAX]);

#endif
