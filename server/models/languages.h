/* Languages that the operator calls by names of his own: "pb=pt-BR". Codes are compared as
 * text/language_code.h says. Pure; any thread. */
#ifndef DG_SERVER_MODELS_LANGUAGES_H
#define DG_SERVER_MODELS_LANGUAGES_H

#include "base/error.h"
#include "text/language_code.h"

/* Check that aliases is "asked=meant,asked=meant,..." (or ""). DG_EINVAL names the entry. */
int dg_language_aliases_check(const char *aliases, struct dg_error *err);
/* The code that asked stands for by the aliases, which were checked: in out, or asked itself. */
const char *dg_language_alias(const char *aliases, const char *asked, char out[DG_LANGUAGE_MAX]);

#endif
