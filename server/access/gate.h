/* Access control: each request's route and API key, from the end of its headers until its reply is
 * sent. Without keys (--keys) anyone may do everything except administration, which is only for
 * clients of the Unix socket. HTTP threads. */
#ifndef DG_SERVER_ACCESS_GATE_H
#define DG_SERVER_ACCESS_GATE_H

#include "base/error.h"
#include "server/access/auth.h"
#include "server/http/http.h"

struct dg_rates;
struct dg_route;

#define DG_GATE_KEY 256 /* maximum bytes of a checked key, with NUL */

/* Where an API's requests carry keys, and how it words refusals. */
struct dg_gate_manner {
    /* The key, in out; false: none. Also called before the body is there; then it looks only at
     * headers and query. */
    bool (*find_key)(const struct dg_http_exchange *x, char out[DG_GATE_KEY]);
    /* Keys may also be in bodies. */
    bool in_body;
    /* Fill r with the reason and its message. The caller adds Retry-After and similar headers. */
    void (*refuse)(struct dg_http_reply *r, enum dg_auth_verdict why, const char *message);
};

/* The limits that requests are checked against. */
struct dg_gate {
    /* NULL: no keys are required */
    struct dg_auth *auth;
    /* limits per address, used without keys */
    struct dg_rates *rates;
};

/* Begin a request for route (stored for dg_gate_route, not examined). False: it was refused with a
 * reply, for lack of memory. */
bool dg_gate_open(struct dg_http_exchange *x, const struct dg_route *route);

enum dg_gate_verdict {
    DG_GATE_ADMITTED,
    /* with a reply: 401, 403 or 429, or as the manner defines */
    DG_GATE_REFUSED,
    /* its key may be in the body: call again once the body is there; that call decides */
    DG_GATE_WAITS
};
/* May a request, whose headers are complete, do what needs one of the scopes, bits of enum
 * dg_scope? 0: open to all. manner NULL: keys are in headers, which are always accepted. */
enum dg_gate_verdict dg_gate_enter(const struct dg_gate *gate, struct dg_http_exchange *x,
    unsigned scope, const struct dg_gate_manner *manner);
/* Did dg_gate_enter last return DG_GATE_WAITS? */
bool dg_gate_waits(const struct dg_http_exchange *x);
/* An exchange's key, for other threads: valid until it is released, even after the exchange. */
struct dg_visit;
struct dg_visit *dg_gate_hold(struct dg_http_exchange *x);
void dg_gate_release(struct dg_visit *v); /* any thread; NULL is fine */
/* Charge this many characters to the key's daily limit. Once. DG_EQUOTA: they do not fit. Any
 * thread. */
int dg_gate_use(struct dg_auth *auth, struct dg_visit *v, int64_t characters, struct dg_error *err);

/* The route given to dg_gate_open; NULL: none. */
const struct dg_route *dg_gate_route(const struct dg_http_exchange *x);
/* The id of the request's key, which is not secret, also if the key was refused; "unknown": no such
 * key; "-": none was sent. */
const char *dg_gate_key(const struct dg_http_exchange *x);
/* Owner of the glossaries and memories that the request may use besides the shared ones: its key's
 * id; "" without keys. */
#define DG_GATE_OWNER 16
void dg_gate_owner(
    const struct dg_auth *auth, const struct dg_http_exchange *x, char owner[DG_GATE_OWNER]);
/* Did it come through the Unix socket, and from no proxy? HTTP thread. */
bool dg_gate_is_owner(const struct dg_http_exchange *x);
/* A number for the client: its key, or (without) its address; 0: none. */
uint64_t dg_gate_client(const struct dg_http_exchange *x);
/* The same for work of an owner (dg_gate_owner) that goes on without its exchange; never 0: work of
 * owners without a key counts as one client's. Any thread. */
uint64_t dg_gate_client_of(struct dg_auth *auth, const char *owner);
/* Characters that the request's key has used today, and its daily limit (0: no limit); without a
 * key both 0. */
void dg_gate_usage(
    struct dg_auth *auth, const struct dg_http_exchange *x, int64_t *used, int64_t *limit);
/* Add what remains of the client's limits to the reply: RateLimit-Policy and RateLimit, as the
 * IETF's draft draft-ietf-httpapi-ratelimit-headers-10 has them. HTTP thread. */
void dg_gate_mark(const struct dg_gate *gate, struct dg_http_exchange *x, struct dg_http_reply *r);
/* The request's status does not show which texts were answered: charge its key for these n
 * characters only. HTTP thread. */
void dg_gate_answered(struct dg_http_exchange *x, int64_t n);
/* The request is over, with this status (for a stream that failed: its outcome, not 200). Give back
 * what a refused or failed request was charged (4xx, 5xx, or as dg_gate_answered says), except if
 * its client disconnected (499). */
void dg_gate_leave(struct dg_auth *auth, struct dg_http_exchange *x, int status);

#endif
