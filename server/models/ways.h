/* The ways between many languages at once, for pages that list them: a model of two hundred
 * languages has forty thousand pairs, too many to look for each. Any thread. */
#ifndef DG_SERVER_MODELS_WAYS_H
#define DG_SERVER_MODELS_WAYS_H

#include "server/models/models.h"

enum dg_way_kind {
    DG_WAY_NONE,
    DG_WAY_DIRECT, /* by one model */
    DG_WAY_SAME,   /* both are the same language */
    DG_WAY_PIVOT,  /* by two models */
};

struct dg_ways {
    /* [source][target] an enum dg_way_kind */
    unsigned char kinds[DG_MODELS_MAX][DG_MODELS_MAX];
    /* [source] the language that its ways through the pivot go through, in the first model's
     * spelling */
    char through[DG_MODELS_MAX][DG_LANGUAGE_MAX];
};

/* What dg_models_way, with may_pivot, finds for each pair of the languages. The caller frees the
 * result; NULL: no memory. */
struct dg_ways *dg_models_ways(struct dg_models *m, const struct dg_model_languages *sources,
    const struct dg_model_languages *targets);

#endif
