/* Requests that browser extensions and similar programs send to a self-hosted server, one route
 * each: Immersive Translate (POST /imme), KISS Translator (/kiss), hcfy (/hcfy) and DeepLX
 * (/deeplx). Errors are {"error": a sentence}, DeepLX's {"code","message"}. An API key may be in
 * the query, "?token=KEY", because most of them only have a field for a URL. HTTP threads; readers
 * and writers as endpoints.h has them. */
#ifndef DG_SERVER_API_EXTENSIONS_EXTENSIONS_H
#define DG_SERVER_API_EXTENSIONS_EXTENSIONS_H

#include "server/api/dialect.h"
#include "server/api/endpoints.h"

extern const struct dg_dialect dg_imme, dg_kiss, dg_hcfy, dg_deeplx;
extern const struct dg_endpoint dg_imme_translate;
extern const struct dg_endpoint dg_kiss_translate;
extern const struct dg_endpoint dg_hcfy_translate;
extern const struct dg_endpoint dg_deeplx_translate;

/* Fill r with an error; DeepLX answers 404 if there is no text (DG_ENOTFOUND, field text). */
void dg_extension_fail(struct dg_http_reply *r, const struct dg_error *err);
void dg_deeplx_fail(struct dg_http_reply *r, const struct dg_error *err);

#endif
