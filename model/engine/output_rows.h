/* The output matrix reduced to the pieces that may come in one sentence (weights/shortlist.h): the
 * sentence then multiplies by hundreds of rows instead of the whole vocabulary. Made from the
 * stored matrix when the sentence is admitted. Where many sentences share the product with the
 * whole matrix, which is then cheaper, it has no matrix of its own. Belongs to one engine, one
 * thread at a time. */
#ifndef DG_MODEL_ENGINE_OUTPUT_ROWS_H
#define DG_MODEL_ENGINE_OUTPUT_ROWS_H

#include "model/model.h"

struct dg_output_rows {
    /* [n] target ids, ascending */
    int32_t *ids;
    uint32_t n;
    /* [n,D]; NULL: the whole vocabulary's product is used */
    struct dg_weight *w;
    /* [n] or NULL */
    struct dg_weight *bias;
    /* backend of the weights */
    struct dg_backend *be;
    /* memory that the weights may refer to: [n,D] and [n] as stored; scales [n] or NULL */
    void *rows, *biases;
    float *scales;
};

/* Copies ids[n]; own: makes a matrix of its own. DG_ENOMEM. */
int dg_output_rows_open(const struct dg_model *m, struct dg_backend *be, const int32_t *ids,
    uint32_t n, bool own, struct dg_output_rows **out, struct dg_error *err);
void dg_output_rows_close(struct dg_output_rows *o); /* NULL is fine */
/* Most bytes that each row of a matrix of its own takes. */
size_t dg_output_rows_bytes(const struct dg_model *m);

/* Index of an id in the list; -1: it is not there. */
int32_t dg_output_rows_find(const struct dg_output_rows *o, int32_t id);

#endif
