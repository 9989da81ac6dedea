/* Converts a model trained by Marian (.npz or .bin, vocabularies, SentencePiece models) to a
 * bundle. Any thread, one call per output. */
#ifndef DG_CONVERT_MARIAN_MARIAN_H
#define DG_CONVERT_MARIAN_MARIAN_H

#include "base/error.h"
#include "convert/to.h"
#include "model/config.h"

struct dg_convert_marian {
    /* model.npz or model.bin */
    const char *model;
    /* .yml or .spm; target NULL: the source's */
    const char *source_vocab, *target_vocab;
    const char *source_spm,
        *target_spm; /* SentencePiece models; NULL: the vocabulary when it is one, else none */
    /* Marian's binary lexical shortlist; NULL: none */
    const char *shortlist;
    struct dg_convert_to to;
    /* DG_POS_MARIAN, or DG_POS_HALVES for the convention of CTranslate2 */
    enum dg_positions positions;
    /* LayerNorm's epsilon; 0: 1e-6 as in Marian's code, or 1e-5 with DG_POS_HALVES as in
     * CTranslate2 */
    double norm_eps;
    /* keep the scales that an int8 file has for activations, and compute with them as Bergamot does
     * (in fp32: for comparisons, not for speed); needs DG_F32 and excludes keep_int8 */
    bool input_scales;
};

/* Read, check, write the bundle. DG_EUNSUP names the Marian option that we do not support, and its
 * value; DG_EFORMAT the array that is missing, misshapen or unknown. On failure no manifest is left
 * in `out`. */
int dg_convert_marian(const struct dg_convert_marian *o, struct dg_error *err);

#endif
