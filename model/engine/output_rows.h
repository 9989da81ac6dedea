/* The output matrix cut down to the pieces that may come in one sentence (weights/shortlist.h): a
 * sentence then multiplies with hundreds of rows instead of the whole vocabulary. Made when the
 * sentence is admitted, from the stored matrix; without a matrix of its own where many sentences
 * share the whole one, which is cheaper. Belongs to one engine, one thread at a time. */
#ifndef DG_MODEL_ENGINE_OUTPUT_ROWS_H
#define DG_MODEL_ENGINE_OUTPUT_ROWS_H

#include "model/model.h"

struct dg_output_rows {
    /* [n] of the target vocabulary, ascending */
    int32_t *ids;
    uint32_t n;
    /* [n,D]; NULL: the whole vocabulary's product is used */
    struct dg_weight *w;
    /* [n] or NULL */
    struct dg_weight *bias;
    /* whose they are */
    struct dg_backend *be;
    /* what they may look into: [n,D] and [n] as stored; scales [n] or NULL */
    void *rows, *biases;
    float *scales;
};

/* ids[n] is copied; own: with a matrix of its own. DG_ENOMEM. */
int dg_output_rows_open(const struct dg_model *m, struct dg_backend *be, const int32_t *ids,
    uint32_t n, bool own, struct dg_output_rows **out, struct dg_error *err);
void dg_output_rows_close(struct dg_output_rows *o); /* NULL is fine */

/* The place of an id in the list; -1: it has none. */
int32_t dg_output_rows_find(const struct dg_output_rows *o, int32_t id);

#endif
