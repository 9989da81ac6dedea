/* A Transformer ready to run: configuration, parameters placed on a backend's device, position
 * table. Const after open: any number of engines, on any threads, may share it. */
#ifndef DG_MODEL_MODEL_H
#define DG_MODEL_MODEL_H

#include "base/error.h"
#include "base/json.h"
#include "kernels/backend.h"
#include "model/byte_pieces.h"
#include "model/config.h"
#include "weights/shortlist.h"
#include "weights/weights.h"

struct dg_model;

/* Place the parameters named in `weights` for `config` on be's device. The weights file must stay
 * open as long as the model. A weights file in memory serves one model only: each tensor
 * that was copied is released (dg_weights_release). DG_EFORMAT names the tensor that is missing or
 * of the wrong shape. */
int dg_model_open(const struct dg_config *config, const struct dg_weights *weights,
    struct dg_backend *be, uint32_t max_positions, struct dg_model **out, struct dg_error *err);
/* Keep the output matrix and its bias as they are stored, for dg_model_use_shortlist. Call before a
 * model is opened. */
void dg_model_keep_output(const struct dg_config *config, const struct dg_weights *weights);
/* Let every sentence choose from its shortlist instead of the whole vocabulary. Call before the
 * model is shared. weights: those given to dg_model_keep_output (those that the model was opened
 * with, or equal ones). weights and list are borrowed and must outlive the model. */
void dg_model_use_shortlist(
    struct dg_model *m, const struct dg_weights *weights, const struct dg_shortlist *list);
/* Restrict every search to bytes that form whole characters. Call before the model is shared.
 * pieces: those of the target vocabulary, borrowed, must outlive the model. NULL is fine: there are
 * none. */
void dg_model_use_byte_pieces(struct dg_model *m, const struct dg_byte_pieces *pieces);
/* Make the model own the weights that it was opened with: they are closed with it. */
void dg_model_own_take(struct dg_model *m, struct dg_weights *weights);
void dg_model_close(struct dg_model *m); /* NULL is fine; the backend must still be open */

const struct dg_config *dg_model_config(const struct dg_model *m);
/* Most positions of a sentence on either side. */
uint32_t dg_model_max_positions(const struct dg_model *m);

/* Pass the number NAME.steps stored beside an s8 matrix, if there is one, to w with
 * dg_ops.weight_set_steps. */
int dg_param_set_steps(struct dg_backend *be, const struct dg_weights *weights, const char *name,
    struct dg_weight *w, struct dg_error *err);

#endif
