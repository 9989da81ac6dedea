/* DeepL's API v2, for its clients: they change a URL. /v2/translate, /v2/languages and /v2/usage;
 * what this server does not have (formality, glossaries, styles, documents) is refused as
 * DeepL refuses it. Errors are {"message": a sentence}. HTTP threads. */
#ifndef DG_SERVER_API_DEEPL_DEEPL_H
#define DG_SERVER_API_DEEPL_DEEPL_H

#include "server/api/dialect.h"
#include "server/api/endpoints.h"

extern const struct dg_dialect dg_deepl;
extern const struct dg_endpoint dg_deepl_translate;

void dg_deepl_languages(struct dg_app *app, struct dg_http_exchange *x);
void dg_deepl_usage(struct dg_app *app, struct dg_http_exchange *x);

/* The reply that is an error. */
void dg_deepl_fail(struct dg_http_reply *r, const struct dg_error *err);

/* Is a parameter true in JSON, "1" or "true" in a form? */
bool dg_deepl_is_true(const struct dg_json *o, const char *key);

/* A code as DeepL writes it: in capitals. */
void dg_deepl_code(const char *code, char out[36]);

#endif
