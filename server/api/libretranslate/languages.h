/* Languages as LibreTranslate's clients call them. Any thread. */
#ifndef DG_SERVER_API_LIBRETRANSLATE_LANGUAGES_H
#define DG_SERVER_API_LIBRETRANSLATE_LANGUAGES_H

#include "base/json.h"
#include "server/models/models.h"

/* Replace both codes by this server's ("pb" is "pt-BR", "zt" is "zh-Hant"); DG_ENOTFOUND, with
 * LibreTranslate's message, if no model has one of them. "auto" stays as a source. */
int dg_lt_languages(
    struct dg_models *m, const char **source, const char **target, struct dg_error *err);
/* Check that one can be translated to the other. DG_ENOTFOUND, with LibreTranslate's message. */
int dg_lt_pair(struct dg_models *m, const char *source, const char *target, struct dg_error *err);

/* {"code","name"} */
struct dg_json *dg_lt_language(const char *code);
/* The reply of GET /languages: each language with its target languages, including itself. */
struct dg_json *dg_lt_language_list(struct dg_models *m);

#endif
