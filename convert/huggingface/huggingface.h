/* Converts a MarianMT directory of Hugging Face's transformers (config.json, model.safetensors or
 * pytorch_model.bin, vocab.json, source.spm, target.spm), or one of M2M-100 or NLLB-200
 * (sentencepiece.bpe.model, and for M2M-100 vocab.json), to a bundle. Any thread, one call per
 * output. */
#ifndef DG_CONVERT_HUGGINGFACE_HUGGINGFACE_H
#define DG_CONVERT_HUGGINGFACE_HUGGINGFACE_H

#include "base/error.h"
#include "convert/to.h"

struct dg_convert_huggingface {
    const char *dir;
    /* Languages NULL: the one in tokenizer_config.json; for a model with tags (>>deu<<), all target
     * languages; for M2M-100 and NLLB, all languages. */
    struct dg_convert_to to;
};

/* Read, check, write the bundle; no code in the directory is run. DG_EUNSUP names the field or
 * tensor that we do not support, with its value; DG_EFORMAT names a missing or wrong part. On
 * failure no manifest is left in `out`. */
int dg_convert_huggingface(const struct dg_convert_huggingface *o, struct dg_error *err);

#endif
