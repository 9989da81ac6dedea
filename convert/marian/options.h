/* Reads Marian's options (special:model.yml) into a configuration. Settings that mean another model
 * are refused by name and value. Private to convert/. One thread at a time. */
#ifndef DG_CONVERT_MARIAN_OPTIONS_H
#define DG_CONVERT_MARIAN_OPTIONS_H

#include "model/config.h"
#include "convert/yaml.h"

#include <stdbool.h>

struct dg_marian_options {
    /* one table for source and target: Wemb */
    bool tied_source;
    /* no biases in attention and feed-forward networks */
    bool no_bias;
    /* the first head of this decoder layer (from 1) was trained with guided alignment; 0 = not
     * given */
    uint32_t alignment_layer;
    /* version of the Marian that wrote the model */
    char version[64];
};

/* Read everything of *c except the special ids and the number of learned positions. `positions` is
 * DG_POS_MARIAN or DG_POS_HALVES; with trained position embeddings c->positions becomes
 * DG_POS_LEARNED. */
int dg_marian_options_read(const struct dg_yaml *yml, enum dg_positions positions,
    struct dg_config *c, struct dg_marian_options *o, struct dg_error *err);

#endif
