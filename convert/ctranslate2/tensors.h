/* Converts CTranslate2's variables to our configuration and tensors. Private to convert/. One
 * thread at a time. */
#ifndef DG_CONVERT_CTRANSLATE2_TENSORS_H
#define DG_CONVERT_CTRANSLATE2_TENSORS_H

#include "convert/ctranslate2/reader.h"
#include "convert/to.h"
#include "model/config.h"
#include "weights/weights.h"

/* Read dimensions, kind of layers, tables and positions from the file: sets all of *c except the
 * special ids, norm_eps and source_eos. zero_start: the decoder starts with a zero vector.
 * DG_EUNSUP names a variable that only an unsupported kind of model has. */
int dg_ct2_config_read(
    const struct dg_ct2 *m, struct dg_config *c, bool *zero_start, struct dg_error *err);

/* Add every parameter to w, in the types that `to` asks for. DG_EFORMAT names a variable that is
 * missing or misshapen, DG_EUNSUP one that no parameter uses. */
int dg_ct2_tensors_add(const struct dg_ct2 *m, const struct dg_config *c,
    const struct dg_convert_to *to, struct dg_weights_writer *w, struct dg_error *err);

#endif
