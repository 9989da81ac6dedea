/* What a request to LibreTranslate's API asks for: fields of a JSON object, else parameters of the
 * query and of a form, all as one JSON object. Texts of errors are LibreTranslate's, which its
 * clients look for. HTTP threads. */
#ifndef DG_SERVER_API_LIBRETRANSLATE_PARAMETERS_H
#define DG_SERVER_API_LIBRETRANSLATE_PARAMETERS_H

#include "base/json.h"
#include "server/access/gate.h"

/* *out, to be freed; *form: its values are strings. DG_EINVAL, DG_ENOMEM. */
int dg_lt_parameters(
    const struct dg_http_exchange *x, struct dg_json **out, bool *form, struct dg_error *err);

/* A string that must be there and not be empty; of several the first. DG_EINVAL. */
int dg_lt_string(const struct dg_json *o, const char *key, const char **out, struct dg_error *err);
/* The whole number in `alternatives`, 0 when absent. DG_EINVAL. */
int dg_lt_alternatives(const struct dg_json *o, int64_t *out, struct dg_error *err);

/* The API key that the request holds (api_key), in out; false: none. */
bool dg_lt_key(const struct dg_http_exchange *x, char out[DG_GATE_KEY]);

#endif
