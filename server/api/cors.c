#include "server/api/cors.h"

#include "server/access/site.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAIRS 7

/* Headers of a reply to one origin; ended by NULL. */
struct allowed {
    const char *headers[PAIRS][2];
};

struct dg_cors {
    /* "dialects": only for dialects whose own servers allow every page */
    bool by_dialect;
    /* "*", alone; else the origins of the list */
    struct allowed *allowed;
    size_t n;
    /* storage of the origins: the list, with NULs for commas */
    char *text;
};

static const char *const vary[][2] = {{"Vary", "Origin"}, {NULL, NULL}};

/* Also sent for requests that are no preflight: LibreTranslate's server always sends all of them,
 * and a client may check. */
static struct allowed allow(const char *origin)
{
    struct allowed a = {{
        {"Access-Control-Allow-Origin", origin},
        {"Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE"},
        {"Access-Control-Allow-Headers",
            "Authorization, Content-Type, X-API-Key, X-Goog-Api-Key, Key, X-Request-Id, "
            "X-Request-Timeout, traceparent"},
        {"Access-Control-Expose-Headers",
            "Authorization, Content-Disposition, RateLimit, RateLimit-Policy, Retry-After, "
            "Server-Timing, X-Model-Version, X-Request-Id"},
        {"Access-Control-Max-Age", "1728000"},
    }};
    if (strcmp(origin, "*") != 0) {
        a.headers[5][0] = vary[0][0];
        a.headers[5][1] = vary[0][1];
    }
    return a;
}

static bool is_word(const char *origins)
{
    return !strcmp(origins, "dialects") || !strcmp(origins, "*") || !strcmp(origins, "none");
}

/* "scheme://host" or "scheme://host:port", as browsers send it: no path, not even "/". */
static bool is_origin(const char *s, size_t n)
{
    const char *rest = memmem(s, n, "://", 3);
    if (!rest || rest == s || rest + 3 == s + n)
        return false;
    for (const char *p = rest + 3; p < s + n; p++)
        if (*p <= ' ' || *p >= 127 || strchr("/?#*@,", *p))
            return false;
    return true;
}

int dg_cors_check(const char *origins, struct dg_error *err)
{
    if (is_word(origins))
        return DG_OK;
    for (const char *p = origins;; p++) {
        const size_t n = strcspn(p, ",");
        if (!is_origin(p, n))
            return dg_error_field(err, DG_EINVAL, "cors_origins",
                "cors_origins has \"%.*s\", expected dialects, *, none, or origins such as "
                "https://example.org",
                n < 80 ? (int)n : 80, p);
        p += n;
        if (*p == '\0')
            return DG_OK;
    }
}

/* Adds a row for each origin of the text, which is split in place. */
static void fill(struct dg_cors *c)
{
    char *rest = c->text;
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ","))
        c->allowed[c->n++] = allow(word);
}

int dg_cors_open(const char *origins, struct dg_cors **out, struct dg_error *err)
{
    size_t most = 1;
    struct dg_cors *c = calloc(1, sizeof *c);
    *out = c;
    if (!c)
        return dg_error_set(err, DG_ENOMEM, "no memory for the origins of pages");
    if (strcmp(origins, "none") == 0)
        return DG_OK;
    c->by_dialect = strcmp(origins, "dialects") == 0;
    for (const char *p = origins; *p; p++)
        most += *p == ',';
    c->text = strdup(c->by_dialect ? "*" : origins);
    c->allowed = calloc(most, sizeof *c->allowed);
    if (!c->text || !c->allowed)
        return dg_error_set(err, DG_ENOMEM, "no memory for the origins of pages");
    fill(c);
    return DG_OK;
}

void dg_cors_close(struct dg_cors *c)
{
    if (!c)
        return;
    free(c->allowed);
    free(c->text);
    free(c);
}

static bool is_any(const struct allowed *a)
{
    return strcmp(a->headers[0][1], "*") == 0;
}

static bool speaks(const struct dg_cors *c, const struct dg_dialect *dialect)
{
    return c->n > 0 && (!c->by_dialect || (dialect && dialect->for_pages));
}

/* The row of the request's origin; NULL: its pages may read nothing. */
static const struct allowed *find(const struct dg_cors *c, const struct dg_http_exchange *x)
{
    const char *origin = dg_http_header(x, "Origin");
    if (is_any(c->allowed))
        return c->allowed;
    for (size_t i = 0; origin && i < c->n; i++)
        if (strcmp(c->allowed[i].headers[0][1], origin) == 0)
            return &c->allowed[i];
    return NULL;
}

/* Is any page allowed to read everything, or is host, a value of Host, that of an origin whose
 * pages may? */
static bool names(const struct dg_cors *c, const char *host)
{
    for (size_t i = 0; !c->by_dialect && i < c->n; i++) {
        const char *origin = c->allowed[i].headers[0][1];
        if (strcmp(origin, "*") == 0 || strcasecmp(strstr(origin, "://") + 3, host) == 0)
            return true;
    }
    return false;
}

const char *dg_cors_refusal(
    const struct dg_cors *c, const struct dg_http_exchange *x, const struct dg_dialect *dialect)
{
    const char *method = dg_http_request(x)->method;
    const bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (!reads && dg_site_is_other(x) && !(speaks(c, dialect) && find(c, x)))
        return "a page of another site sent this: allow its origin with --cors-origins, or use "
               "--keys";
    if (dg_site_is_rebound(x) && !names(c, dg_http_header(x, "Host")))
        return "Host is not a name of this machine: use localhost or 127.0.0.1, or allow "
               "http://NAME:PORT with --cors-origins";
    return NULL;
}

void dg_cors_mark(
    const struct dg_cors *c, struct dg_http_exchange *x, const struct dg_dialect *dialect)
{
    if (!speaks(c, dialect))
        return;
    const struct allowed *a = find(c, x);
    dg_http_set_headers(x, a ? a->headers : vary);
}
