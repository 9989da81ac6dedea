/* Which pages of other origins may read answers (CORS), by --cors-origins:
 *   "dialects": any page may read the answers of a dialect whose own server allows that, but
 *   nothing else of the API;
 *   "*": any page, everything; "none": no page;
 *   a list "https://a.example,http://localhost:3000": pages of these origins, everything.
 * Browsers obey these headers; other programs ignore them. Constant once made; any thread. */
#ifndef DG_SERVER_API_CORS_H
#define DG_SERVER_API_CORS_H

#include "server/api/dialect.h"
#include "server/http/http.h"

struct dg_cors;

/* Check a setting of that kind. DG_EINVAL names the word that is not an origin. */
int dg_cors_check(const char *origins, struct dg_error *err);
/* From a checked setting. DG_ENOMEM. */
int dg_cors_open(const char *origins, struct dg_cors **out, struct dg_error *err);
/* NULL is fine. */
void dg_cors_close(struct dg_cors *c);

/* Reason why a server without keys refuses a request for a path of this dialect (NULL: our own
 * API), or NULL. Browsers send forms and other simple requests without a preflight. Accepted are
 * this server's own pages, pages that may read the answer, and programs other than browsers. HTTP
 * thread. */
const char *dg_cors_refusal(
    const struct dg_cors *c, const struct dg_http_exchange *x, const struct dg_dialect *dialect);
/* Add the permissions of the request's origin for a path of this dialect (NULL: our own API) to the
 * reply. HTTP thread. */
void dg_cors_mark(
    const struct dg_cors *c, struct dg_http_exchange *x, const struct dg_dialect *dialect);

#endif
