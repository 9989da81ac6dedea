/* Other translation servers' APIs, spoken so that their clients need another URL and nothing else.
 * A dialect is a row here and the rows of its routes (routes.c), which --dialects switches on; its
 * endpoints are readers and writers over the machine that /v1 runs on. Static storage;
 * any thread. */
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
    /* how paths of its API begin that are not served here, NULL at the end; none: in no one way */
    const char *prefixes[3];
    /* Fill r with an error that is not a handler's: 404, 405, or a body that is too large. */
    void (*refuse)(struct dg_http_reply *r, int status, const char *message);
};

/* Is dialects a list of their names, "libretranslate,deepl", or "all" or "none"? DG_EINVAL names
 * the word, and those that there are. */
int dg_dialects_check(const char *dialects, struct dg_error *err);
/* Whose path it would be: the one of a checked list that has this prefix; NULL: none has. */
const struct dg_dialect *dg_dialect_of(const char *path, const char *dialects);
/* Is it among a checked list? NULL, our own API, always is. */
bool dg_dialect_spoken(const struct dg_dialect *dialect, const char *dialects);

#endif
