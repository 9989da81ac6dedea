/* The endpoints that translate or score: a row each of how its body is read, how its texts are
 * planned and how its answer is written. What they have in common is request.h's. Another API's
 * dialect is a reader and a writer, and a row here. HTTP threads. */
#ifndef DG_SERVER_API_ENDPOINTS_H
#define DG_SERVER_API_ENDPOINTS_H

#include "server/api/read.h"

struct dg_endpoint {
    /* Fill in the request from body[n]. No HTTP. DG_EINVAL (field "body": not JSON or no object)
     * and DG_ELIMIT name the field. */
    int (*read)(struct dg_request *r, const char *body, size_t n, const struct dg_limits *limits,
        struct dg_error *err);
    struct dg_request_kind kind;
    /* Bodies of any media type are read, not JSON alone. */
    bool any_type;
};

extern const struct dg_endpoint dg_endpoint_translate;    /* POST /v1/translate */
extern const struct dg_endpoint dg_endpoint_batch;        /* POST /v1/batch */
extern const struct dg_endpoint dg_endpoint_score;        /* POST /v1/score */
extern const struct dg_endpoint dg_endpoint_alternatives; /* POST /v1/alternatives */
extern const struct dg_endpoint dg_endpoint_attention;    /* POST /v1/attention */

/* For other routes with a body: is it JSON, are there models, is the client still there? False: it
 * was refused. And the limits of one request. */
bool dg_endpoint_accept(const struct dg_app *app, struct dg_http_exchange *x);
struct dg_limits dg_endpoint_limits(const struct dg_app *app, bool fed);
/* Answer a request to one of them. */
void dg_endpoint_handle(
    struct dg_app *app, struct dg_http_exchange *x, const struct dg_endpoint *endpoint);

#endif
