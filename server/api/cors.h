/* Pages of other origins that may read answers (CORS), by --cors-origins: "dialects": all pages, if
 * a dialect's own server allows it, but none for the rest of the API;
 *   "*": all of them, everything; "none": none, nothing;
 *   a list "https://a.example,http://localhost:3000": these, everything, and no others.
 * Browsers use these headers; other programs ignore them. Constant once made; any thread. */
#ifndef DG_SERVER_API_CORS_H
#define DG_SERVER_API_CORS_H

#include "server/api/dialect.h"
#include "server/http/http.h"

struct dg_cors;

/* Is it one of the above? DG_EINVAL names the origin that is none. */
int dg_cors_check(const char *origins, struct dg_error *err);
/* From a checked setting. DG_ENOMEM. */
int dg_cors_open(const char *origins, struct dg_cors **out, struct dg_error *err);
/* NULL is fine. */
void dg_cors_close(struct dg_cors *c);

/* Add the permissions of the request's origin for a path of this dialect (NULL: our own) to the
 * reply. c NULL: none. HTTP thread. */
void dg_cors_mark(
    const struct dg_cors *c, struct dg_http_exchange *x, const struct dg_dialect *dialect);

#endif
