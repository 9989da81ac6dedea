/* The body of POST /v1/batch. What is wrong with one item is kept with it and spoils no other; what
 * is wrong with the whole is an error. No HTTP. Any thread. */
#ifndef DG_SERVER_API_REQUEST_BATCH_H
#define DG_SERVER_API_REQUEST_BATCH_H

#include "server/api/request_options.h"
#include "server/schedule/task.h"

#define DG_BATCH_ID_MAX 256 /* bytes of an id */

struct dg_batch_limits {
    struct dg_request_limits item; /* of each item; its time limit is the batch's */
    size_t items, characters;      /* of the whole */
};

/* Strings are borrowed from the body's tree. */
struct dg_batch_item {
    const struct dg_json *id; /* a string or an integer, given back as it is; NULL: none */
    struct dg_text text;
    const char *source, *target;
    struct dg_request_options options;
    struct dg_error *error; /* NULL: the item is well-formed */
};

struct dg_v1_batch {
    struct dg_json *root;
    struct dg_batch_item *items; /* [n] */
    size_t n;
    enum dg_class priority;
    int64_t timeout_ms; /* 0: not given */
};

/* Read body[n]; errors as in request.h. out is to be freed in every case. */
int dg_v1_batch_read(const char *body, size_t n, const struct dg_batch_limits *limits,
    struct dg_v1_batch *out, struct dg_error *err);
void dg_v1_batch_free(struct dg_v1_batch *r);

#endif
