/* A MarianMT directory of Hugging Face's transformers (config.json, model.safetensors or
 * pytorch_model.bin, vocab.json, source.spm, target.spm), or one of M2M-100 or NLLB-200
 * (sentencepiece.bpe.model; of M2M-100 vocab.json) as a bundle. Any thread, one call per output. */
#ifndef DG_CONVERT_HUGGINGFACE_HUGGINGFACE_H
#define DG_CONVERT_HUGGINGFACE_HUGGINGFACE_H

#include "base/error.h"
#include "kernels/backend.h"

struct dg_convert_huggingface {
    const char *dir;
    /* Codes with commas between; NULL: what tokenizer_config.json says, and for a model with tags
     * (>>deu<<) all of them; of M2M-100 and NLLB all. */
    const char *source_lang, *target_lang;
    /* the bundle's directory; made when it is not there */
    const char *out;
    /* NULL: the directory's */
    const char *name;
    /* NULL: not given */
    const char *licence;
    /* of matrices and tables: DG_F32, DG_F16, DG_BF16; vectors stay fp32 */
    enum dg_type type;
};

/* Read, check, write the bundle; no code in the directory is run. DG_EUNSUP names the field or
 * tensor that we do not have, with its value; DG_EFORMAT names a missing or wrong part. On failure
 * no manifest is left in `out`. */
int dg_convert_huggingface(const struct dg_convert_huggingface *o, struct dg_error *err);

#endif
