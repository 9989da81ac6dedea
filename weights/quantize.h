/* Converts a bundle to int8: chosen tensors become s8 rows with a scale each (optionally also
 * packed for the CPU's int8 product); everything else stays unchanged. Independent of the
 * Transformer: the caller chooses the tensors. Any thread, one call per output. It has its own
 * target, dg_quantize, because it needs the kernels' packing. */
#ifndef DG_WEIGHTS_QUANTIZE_H
#define DG_WEIGHTS_QUANTIZE_H

#include "base/error.h"
#include "weights/bundle.h"

enum dg_quantize_as {
    DG_QUANTIZE_NO,     /* unchanged */
    DG_QUANTIZE_TABLE,  /* s8 rows, for lookup */
    DG_QUANTIZE_MATRIX, /* s8 rows, for products: also packed if `packed` is set */
    DG_QUANTIZE_FINE, /* the same for fine activations (kernels/cpu/int8.h), marked by NAME.steps */
};

/* The result for one tensor. */
struct dg_quantized {
    const char *name;
    size_t N, K;
    /* [N,K] original values; NULL when the tensor was already s8 */
    const float *rows;
    /* [N,K] */
    const int8_t *q;
    /* [N] */
    const float *scales;
    /* |rows - scale q| / |rows|; 0 when the tensor was already s8 */
    double error;
};

struct dg_quantize {
    /* directories; `out` is created and must differ from `bundle` */
    const char *bundle, *out;
    /* store matrices twice: as rows, and as DG_LAYOUT_PANEL16_S8, which is used in place at
     * start-up */
    bool packed;
    enum dg_quantize_as (*choose)(void *arg, const char *name);
    int (*done)(void *arg, const struct dg_quantized *t,
        /* optional; borrowed for the call */
        struct dg_error *err);
    void *arg;
};

/* Read, quantise, write and seal. Name, pairs and files stay the same; training.quantised_from is
 * the version of the original (the first one, if it was already quantised). DG_EFORMAT names a
 * tensor with a value that is not finite. On failure an old bundle in `out` stays as it is, or has
 * no manifest if its weights are already replaced. */
int dg_quantize_bundle(const struct dg_quantize *o, struct dg_error *err);

#endif
