/* LibreTranslate's API (1.9.6), so that its clients need only another URL. POST /translate and
 * /detect, /suggest and /translate_file, GET /languages, /frontend/settings, /health, /spec and
 * /download_file. Errors are {"error": a sentence in LibreTranslate's wording}. Handlers as
 * routes.h has them. HTTP threads. */
#ifndef DG_SERVER_API_LIBRETRANSLATE_LIBRETRANSLATE_H
#define DG_SERVER_API_LIBRETRANSLATE_LIBRETRANSLATE_H

#include "server/api/dialect.h"
#include "server/api/endpoints.h"

extern const struct dg_dialect dg_libretranslate;
extern const struct dg_endpoint dg_libretranslate_translate;
extern const struct dg_endpoint dg_libretranslate_detect;
extern const struct dg_endpoint dg_libretranslate_suggest; /* 403 without --suggestions */

/* Documents: 403 unless --documents enables them. */
void dg_libretranslate_file(struct dg_app *app, struct dg_http_exchange *x);
void dg_libretranslate_download(struct dg_app *app, struct dg_http_exchange *x);
void dg_libretranslate_languages(struct dg_app *app, struct dg_http_exchange *x);
void dg_libretranslate_settings(struct dg_app *app, struct dg_http_exchange *x);
void dg_libretranslate_health(struct dg_app *app, struct dg_http_exchange *x);
void dg_libretranslate_spec(struct dg_app *app, struct dg_http_exchange *x);

/* Fill r with an error. */
void dg_libretranslate_fail(struct dg_http_reply *r, const struct dg_error *err);

#endif
