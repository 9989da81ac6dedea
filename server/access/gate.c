#include "server/access/gate.h"

#include "base/clock.h"
#include "server/access/auth.h"
#include "server/access/rates.h"
#include "server/http/reply.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define NO_KEY 1 /* client number of work without exchange and key; no key's and no address's */

/* State that travels with an exchange. */
struct dg_visit {
    /* one of the exchange, and one of each dg_gate_hold */
    atomic_uint refs;
    pthread_mutex_t lock;
    const struct dg_route *route;
    /* the request's key, admitted or over its rate; NULL: no key was needed, or it was refused for
     * another reason */
    struct dg_auth_key *key;
    /* counted against its address's rate */
    bool by_address;
    /* its key may be in the body, which is not there yet */
    bool waits;
    /* the key's name in the log */
    const char *shown;
    /* guarded by lock, like day and characters: its exchange is over */
    bool left;
    /* characters charged, and the day they were charged to */
    int64_t day, characters;
    /* characters that were answered; -1: the status tells */
    int64_t answered;
};

/* The key that was sent: "Authorization: Bearer KEY", else "X-API-Key: KEY". Programs whose field
 * for the key is empty send a header without one: NULL. */
static const char *secret_of(const struct dg_http_exchange *x)
{
    static const char scheme[] = "Bearer ";
    const char *value = dg_http_header(x, "Authorization");
    if (value && strncasecmp(value, scheme, sizeof scheme - 1) == 0) {
        value += sizeof scheme - 1;
        value += strspn(value, " ");
        if (*value)
            return value;
    }
    value = dg_http_header(x, "X-API-Key");
    return value && *value ? value : NULL;
}

/* Reports a refused key for APIs that have no manner of their own. */
static void say(struct dg_http_reply *r, enum dg_auth_verdict why, const char *message)
{
    if (why == DG_AUTH_RATE)
        dg_reply_error(r, 429, "rate_limited", NULL, message);
    else if (why == DG_AUTH_SCOPE)
        dg_reply_error(r, 403, "forbidden", NULL, message);
    else
        dg_reply_error(r, 401, "unauthorized", NULL, message);
}

static const char *message_of(enum dg_auth_verdict why, unsigned scope)
{
    switch (why) {
    case DG_AUTH_MISSING:
        return "an API key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY";
    case DG_AUTH_UNKNOWN: return "the API key is unknown or revoked";
    case DG_AUTH_EXPIRED: return "the API key has expired";
    case DG_AUTH_RATE: return "the API key's requests for this minute are used up";
    default:
        return scope == DG_SCOPE_ADMIN ? "the API key lacks the scope admin"
                                       : "the API key lacks the scope translate";
    }
}

/* Appends " on 2027-01-31 at 12:00:00 UTC". */
static void add_date(char *message, size_t cap, int64_t at_s)
{
    struct tm tm;
    const time_t t = (time_t)at_s;
    const size_t n = strlen(message);
    if (gmtime_r(&t, &tm))
        strftime(message + n, cap - n, " on %Y-%m-%d at %H:%M:%S UTC", &tm);
}

static enum dg_gate_verdict check_key(struct dg_auth *auth, struct dg_http_exchange *x,
    unsigned scope, const struct dg_gate_manner *manner, struct dg_visit *v)
{
    char own[DG_GATE_KEY], message[160];
    int64_t wait_s;
    struct dg_auth_key *key;
    struct dg_http_reply r = {0};
    const char *secret = secret_of(x);
    if (!secret && manner && manner->find_key(x, own))
        secret = own;
    v->waits = !secret && manner && manner->in_body && !v->waits;
    if (v->waits)
        return DG_GATE_WAITS;
    enum dg_auth_verdict verdict = dg_auth_enter(auth, secret, scope, &key, &wait_s);
    v->key = verdict == DG_AUTH_OK || verdict == DG_AUTH_RATE ? key : NULL;
    v->shown = key ? dg_auth_id(key) : verdict == DG_AUTH_UNKNOWN ? "unknown" : "-";
    if (verdict == DG_AUTH_OK)
        return DG_GATE_ADMITTED;
    snprintf(message, sizeof message, "%s", message_of(verdict, scope));
    if (verdict == DG_AUTH_EXPIRED)
        add_date(message, sizeof message, dg_auth_expires(auth, key));
    (manner ? manner->refuse : say)(&r, verdict, message);
    if (r.status == 429)
        dg_reply_retry_after(&r, wait_s);
    if (r.status == 401)
        dg_http_reply_header(&r, "WWW-Authenticate", "Bearer realm=\"dragoman\"");
    dg_http_reply_take(x, &r);
    return DG_GATE_REFUSED;
}

static enum dg_gate_verdict check_rate(
    struct dg_rates *rates, struct dg_http_exchange *x, const struct dg_gate_manner *manner)
{
    struct dg_http_reply r = {0};
    int64_t wait_s;
    if (dg_rates_take(rates, dg_http_client(x), dg_clock_ns(), &wait_s))
        return DG_GATE_ADMITTED;
    (manner ? manner->refuse : say)(
        &r, DG_AUTH_RATE, "this address's requests for this minute are used up");
    dg_reply_retry_after(&r, wait_s);
    dg_http_reply_take(x, &r);
    return DG_GATE_REFUSED;
}

/* True through the Unix socket, unless a proxy uses it to forward the requests of others. Not
 * decided by address: whatever a proxy on this machine forwards comes from this machine. */
bool dg_gate_is_owner(const struct dg_http_exchange *x)
{
    return dg_http_unix(x) && !dg_http_header(x, "X-Forwarded-For") &&
           !dg_http_header(x, "Forwarded") && !dg_http_header(x, "Via") &&
           !dg_http_header(x, "Origin");
}

bool dg_gate_open(struct dg_http_exchange *x, const struct dg_route *route)
{
    struct dg_visit *v = calloc(1, sizeof *v);
    if (!v) {
        dg_reply_with_error(x, 503, "overloaded", "no memory for a request");
        return false;
    }
    atomic_init(&v->refs, 1);
    pthread_mutex_init(&v->lock, NULL);
    v->route = route;
    v->shown = "-";
    v->answered = -1;
    dg_http_set_tag(x, v);
    return true;
}

/* The visit; NULL: none. */
static struct dg_visit *visit_of(const struct dg_http_exchange *x)
{
    return (struct dg_visit *)(uintptr_t)dg_http_tag(x);
}

enum dg_gate_verdict dg_gate_enter(const struct dg_gate *gate, struct dg_http_exchange *x,
    unsigned scope, const struct dg_gate_manner *manner)
{
    struct dg_visit *v = visit_of(x);
    if (scope == 0 || (scope == DG_SCOPE_ADMIN && dg_gate_is_owner(x)))
        return DG_GATE_ADMITTED;
    if (gate->auth)
        return check_key(gate->auth, x, scope, manner, v);
    if (scope == DG_SCOPE_ADMIN) {
        dg_reply_with_error(x, 403, "forbidden",
            "without API keys (--keys), this works only through the server's Unix socket "
            "(--unix-socket); SIGHUP does the same");
        return DG_GATE_REFUSED;
    }
    v->by_address = true;
    return check_rate(gate->rates, x, manner);
}

bool dg_gate_waits(const struct dg_http_exchange *x)
{
    const struct dg_visit *v = visit_of(x);
    return v && v->waits;
}

void dg_gate_mark(const struct dg_gate *gate, struct dg_http_exchange *x, struct dg_http_reply *r)
{
    const struct dg_visit *v = dg_http_tag(x);
    struct dg_quota_left left[DG_AUTH_LIMITS];
    char policy[160] = "", state[160] = "";
    size_t n = 0;
    if (v && v->key)
        n = dg_auth_left(gate->auth, v->key, left);
    else if (v && v->by_address)
        n = dg_rates_left(gate->rates, dg_http_client(x), dg_clock_ns(), left);
    for (size_t i = 0; i < n; i++) {
        const char *comma = i > 0 ? ", " : "";
        const size_t p = strlen(policy), s = strlen(state);
        snprintf(policy + p, sizeof policy - p, "%s\"%s\";q=%lld;w=%lld", comma, left[i].name,
            (long long)left[i].limit, (long long)left[i].window_s);
        snprintf(state + s, sizeof state - s, "%s\"%s\";r=%lld;t=%lld", comma, left[i].name,
            (long long)left[i].left, (long long)left[i].reset_s);
    }
    if (n == 0)
        return;
    dg_http_reply_header(r, "RateLimit-Policy", "%s", policy);
    dg_http_reply_header(r, "RateLimit", "%s", state);
}

struct dg_visit *dg_gate_hold(struct dg_http_exchange *x)
{
    struct dg_visit *v = visit_of(x);
    if (v)
        atomic_fetch_add(&v->refs, 1);
    return v;
}

void dg_gate_release(struct dg_visit *v)
{
    if (!v || atomic_fetch_sub(&v->refs, 1) != 1)
        return;
    pthread_mutex_destroy(&v->lock);
    free(v);
}

int dg_gate_use(struct dg_auth *auth, struct dg_visit *v, int64_t characters, struct dg_error *err)
{
    int64_t day;
    if (!v || !v->key)
        return DG_OK;
    int rc = DG_OK;
    pthread_mutex_lock(&v->lock);
    if (v->left) {
        rc = dg_error_set(err, DG_ECANCELED, "the request is over");
    } else if (dg_auth_use(auth, v->key, characters, &day) != DG_AUTH_OK) {
        rc = dg_error_set(err, DG_EQUOTA,
            "%lld characters are more than the API key has left of its %lld for today (UTC)",
            (long long)characters, (long long)dg_auth_daily_limit(auth, v->key));
    } else {
        v->day = day;
        v->characters = characters;
    }
    pthread_mutex_unlock(&v->lock);
    return rc;
}

const struct dg_route *dg_gate_route(const struct dg_http_exchange *x)
{
    const struct dg_visit *v = dg_http_tag(x);
    return v ? v->route : NULL;
}

const char *dg_gate_key(const struct dg_http_exchange *x)
{
    const struct dg_visit *v = dg_http_tag(x);
    return v ? v->shown : "-";
}

void dg_gate_owner(
    const struct dg_auth *auth, const struct dg_http_exchange *x, char owner[DG_GATE_OWNER])
{
    snprintf(owner, DG_GATE_OWNER, "%s", auth ? dg_gate_key(x) : "");
}

uint64_t dg_gate_client(const struct dg_http_exchange *x)
{
    const struct dg_visit *v = dg_http_tag(x);
    return v && v->key ? (uint64_t)(uintptr_t)v->key : dg_http_client(x);
}

uint64_t dg_gate_client_of(struct dg_auth *auth, const char *owner)
{
    const struct dg_auth_key *key = auth ? dg_auth_find(auth, owner) : NULL;
    return key ? (uint64_t)(uintptr_t)key : NO_KEY;
}

void dg_gate_usage(
    struct dg_auth *auth, const struct dg_http_exchange *x, int64_t *used, int64_t *limit)
{
    const struct dg_visit *v = dg_http_tag(x);
    const bool key = auth && v && v->key;
    *used = key ? dg_auth_used(auth, v->key) : 0;
    *limit = key ? dg_auth_daily_limit(auth, v->key) : 0;
}

void dg_gate_answered(struct dg_http_exchange *x, int64_t n)
{
    struct dg_visit *v = visit_of(x);
    if (v)
        v->answered = n;
}

/* The characters that the key pays for. A client that left before its answer still pays for the
 * work that it asked for. */
static int64_t cost_of(const struct dg_visit *v, int status)
{
    if (status == 499)
        return v->characters;
    if (v->answered >= 0)
        return v->answered;
    return status >= 400 ? 0 : v->characters;
}

void dg_gate_leave(struct dg_auth *auth, struct dg_http_exchange *x, int status)
{
    struct dg_visit *v = visit_of(x);
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    int64_t too_much = v->characters - cost_of(v, status);
    if (v->key && too_much > 0)
        dg_auth_give_back(auth, v->key, v->day, too_much);
    v->left = true;
    pthread_mutex_unlock(&v->lock);
    dg_http_set_tag(x, NULL);
    dg_gate_release(v);
}
