/* Which tensors of a Transformer become int8: its matrices and embedding tables. Any thread. */
#ifndef DG_CONVERT_INT8_H
#define DG_CONVERT_INT8_H

#include "model/config.h"
#include "weights/quantize.h"

/* The choice for struct dg_quantize; learned positions and vectors stay as they are. */
enum dg_quantize_as dg_convert_int8_choose(const struct dg_config *c, const char *name);

/* Convert the bundle `from` to int8 and write it as the bundle `to`. */
int dg_convert_int8(const char *from, const char *to, struct dg_error *err);

#endif
