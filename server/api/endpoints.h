/* The endpoints that translate or score: each is an entry that lists the fields of its body, and
 * how to plan its texts and write its answer. Their common part is in request.h. Another API's
 * dialect is a reader and a writer, and an entry here. Readers and writers run on planners'
 * threads, the rest on HTTP threads. */
#ifndef DG_SERVER_API_ENDPOINTS_H
#define DG_SERVER_API_ENDPOINTS_H

#include "server/api/body.h"

struct dg_endpoint {
    /* The fields of its body, ended by DG_BODY_END. */
    enum dg_body_field fields[DG_BODY_FIELDS];
    /* Make items from the body; NULL: one item of all texts. */
    int (*take)(struct dg_request *r, const struct dg_body *b, struct dg_error *err);
    /* Replaces fields and take, for bodies of any media type: make items from the exchange. */
    int (*read)(struct dg_request *r, const struct dg_limits *limits, struct dg_error *err);
    struct dg_request_kind kind;
};

extern const struct dg_endpoint dg_endpoint_translate;    /* POST /v1/translate */
extern const struct dg_endpoint dg_endpoint_batch;        /* POST /v1/batch */
extern const struct dg_endpoint dg_endpoint_score;        /* POST /v1/score */
extern const struct dg_endpoint dg_endpoint_alternatives; /* POST /v1/alternatives */
extern const struct dg_endpoint dg_endpoint_attention;    /* POST /v1/attention */
extern const struct dg_endpoint dg_endpoint_detect;       /* POST /v1/detect */

/* Fill in the request from a JSON body[n]. No HTTP. DG_EINVAL (field "body": not JSON or no object)
 * and DG_ELIMIT name the field. */
int dg_endpoint_read(const struct dg_endpoint *endpoint, struct dg_request *r, const char *body,
    size_t n, const struct dg_limits *limits, struct dg_error *err);
/* Answer a request to an endpoint. */
void dg_endpoint_handle(
    struct dg_app *app, struct dg_http_exchange *x, const struct dg_endpoint *endpoint);

#endif
