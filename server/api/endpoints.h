/* The endpoints that translate or score: a row each of what its body has, how its texts are planned
 * and how its answer is written. Their common part is in request.h. Another API's dialect is a
 * reader and a writer, and a row here. Readers and writers run on planners' threads, the rest on
 * HTTP threads. */
#ifndef DG_SERVER_API_ENDPOINTS_H
#define DG_SERVER_API_ENDPOINTS_H

#include "server/api/body.h"

struct dg_endpoint {
    /* What its body has, ended by DG_BODY_END. */
    enum dg_body_field fields[DG_BODY_FIELDS];
    /* Make items of the body; NULL: one of all texts. */
    int (*take)(struct dg_request *r, const struct dg_body *b, struct dg_error *err);
    /* Instead of both, for bodies of any media type: make items from the exchange. */
    int (*read)(struct dg_request *r, const struct dg_limits *limits, struct dg_error *err);
    struct dg_request_kind kind;
};

extern const struct dg_endpoint dg_endpoint_translate;    /* POST /v1/translate */
extern const struct dg_endpoint dg_endpoint_batch;        /* POST /v1/batch */
extern const struct dg_endpoint dg_endpoint_score;        /* POST /v1/score */
extern const struct dg_endpoint dg_endpoint_alternatives; /* POST /v1/alternatives */
extern const struct dg_endpoint dg_endpoint_attention;    /* POST /v1/attention */
extern const struct dg_endpoint dg_endpoint_detect;       /* POST /v1/detect */

/* For other routes with a body: check the media type, the models and the client's connection.
 * False: it was refused. And the limits of one request. */
bool dg_endpoint_accept(const struct dg_app *app, struct dg_http_exchange *x);
struct dg_limits dg_endpoint_limits(const struct dg_app *app, bool fed);
/* Fill in the request from a JSON body[n]. No HTTP. DG_EINVAL (field "body": not JSON or no object)
 * and DG_ELIMIT name the field. */
int dg_endpoint_read(const struct dg_endpoint *endpoint, struct dg_request *r, const char *body,
    size_t n, const struct dg_limits *limits, struct dg_error *err);
/* Answer a request to one of them. */
void dg_endpoint_handle(
    struct dg_app *app, struct dg_http_exchange *x, const struct dg_endpoint *endpoint);

#endif
