/* APIs of other translation servers, so that their clients need another URL and nothing else. A
 * dialect is an entry here and its routes (routes.c), which --dialects switches on; its endpoints
 * are readers and writers on top of the machinery of /v1. Static storage; any thread. */
#ifndef DG_SERVER_API_DIALECT_H
#define DG_SERVER_API_DIALECT_H

#include "server/access/gate.h"
#include "server/http/http.h"

#include <stdbool.h>

struct dg_dialect {
    const char *name;
    /* its own server lets pages from anywhere read its answers (cors.h) */
    bool for_pages;
    struct dg_gate_manner gate;
    /* the header in which its own server gives a request's id; NULL: none */
    const char *id_header;
    /* prefixes of its API's paths, by which those not served here are recognized, NULL at the end;
     * empty: they have no common prefix */
    const char *prefixes[3];
    /* Fill r with an error that is not a handler's: 404, 405, or a body that is too large. */
    void (*refuse)(struct dg_http_reply *r, int status, const char *message);
};

/* Fill r with such an error, or with our own API's (dialect NULL), which has a code and perhaps a
 * field. */
void dg_dialect_error(const struct dg_dialect *dialect, struct dg_http_reply *r, int status,
    const char *code, const char *field, const char *message);
/* Reply to an exchange with it. HTTP thread. */
void dg_dialect_reply_error(struct dg_http_exchange *x, const struct dg_dialect *dialect,
    int status, const char *code, const char *message);

/* Check that dialects is a list of dialects' names, "libretranslate,deepl", or "all" or "none".
 * DG_EINVAL names the wrong word and the valid ones. */
int dg_dialects_check(const char *dialects, struct dg_error *err);
/* The dialect of a checked list whose prefix the path has; NULL: none. */
const struct dg_dialect *dg_dialect_of(const char *path, const char *dialects);
/* Is the dialect in a checked list? NULL, our own API, always is. */
bool dg_dialect_spoken(const struct dg_dialect *dialect, const char *dialects);

#endif
