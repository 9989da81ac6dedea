/* Google's Translation API v2 ("basic"), for its clients: /language/translate/v2, and /languages
 * and /detect below it. Errors are
 * {"error":{"code","message","errors":[{"message","domain","reason"}]}}. A key is "?key=KEY" or a
 * header, X-Goog-Api-Key. HTTP threads; readers and writers as endpoints.h has them. */
#ifndef DG_SERVER_API_GOOGLE_GOOGLE_H
#define DG_SERVER_API_GOOGLE_GOOGLE_H

#include "server/api/dialect.h"
#include "server/api/endpoints.h"

extern const struct dg_dialect dg_google;
extern const struct dg_endpoint dg_google_translate;
extern const struct dg_endpoint dg_google_detect;

void dg_google_languages(struct dg_app *app, struct dg_http_exchange *x);

/* Fill r with an error. */
void dg_google_fail(struct dg_http_reply *r, const struct dg_error *err);
/* Read the request's parameters: those of a JSON body, or of the object "data" if that is all the
 * body has, and of the query together, or of a form. */
int dg_google_parameters(
    const struct dg_http_exchange *x, struct dg_json **out, struct dg_error *err);
/* The same into the request's tree; parsing of JSON stops when the request ends. */
int dg_google_parameters_read(struct dg_request *r, struct dg_error *err);
/* {"data": {key: value}}, value taken. */
struct dg_json *dg_google_data_take(const char *key, struct dg_json *value);

#endif
