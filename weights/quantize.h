/* A bundle as a bundle in int8: chosen tensors as s8 rows with a scale each (and optionally packed
 * for the CPU's int8 product, too), everything else unchanged. Independent of the Transformer: the
 * caller chooses the tensors. Any thread, one call per output. Own target, dg_quantize, because it
 * needs the kernels' packing. */
#ifndef DG_WEIGHTS_QUANTIZE_H
#define DG_WEIGHTS_QUANTIZE_H

#include "base/error.h"
#include "weights/bundle.h"

enum dg_quantize_as {
    DG_QUANTIZE_NO,     /* stays as it is */
    DG_QUANTIZE_TABLE,  /* s8 rows, looked up */
    DG_QUANTIZE_MATRIX, /* s8 rows, multiplied: packed too with `packed` */
    DG_QUANTIZE_FINE, /* the same for fine activations (kernels/cpu/int8.h), marked by NAME.steps */
};

/* What became of one tensor. */
struct dg_quantized {
    const char *name;
    size_t N, K;
    /* [N,K] as they were; NULL when it was s8 before */
    const float *rows;
    /* [N,K] */
    const int8_t *q;
    /* [N] */
    const float *scales;
    /* |rows - scale q| / |rows|; 0 when it was s8 before */
    double error;
};

struct dg_quantize {
    /* directories; `out` is made, and must be another one */
    const char *bundle, *out;
    /* matrices twice: rows and DG_LAYOUT_PANEL16_S8, used in place at start */
    bool packed;
    enum dg_quantize_as (*choose)(void *arg, const char *name);
    int (*done)(void *arg, const struct dg_quantized *t,
        /* optional; borrowed for the call */
        struct dg_error *err);
    void *arg;
};

/* Read, quantise, write, seal: name, pairs and files stay; training.quantised_from is the version
 * of the original (the first, if it was quantised before). DG_EFORMAT names a tensor with a value
 * that is not finite. On failure no manifest is left in `out`. */
int dg_quantize_bundle(const struct dg_quantize *o, struct dg_error *err);

#endif
