/* Reads config.json, generation_config.json and tokenizer_config.json of a MarianMT, M2M-100 or
 * NLLB directory into our configuration. Settings that mean another model or another choice of
 * pieces are refused by name and value. Private to convert/. One thread at a time. */
#ifndef DG_CONVERT_HUGGINGFACE_CONFIG_H
#define DG_CONVERT_HUGGINGFACE_CONFIG_H

#include "base/json.h"
#include "model/config.h"

#include <stdbool.h>

/* The directory's JSON files; NULL if a file does not exist (config is required). */
struct dg_hf_files {
    struct dg_json *config, *generation, *tokenizer;
};

enum dg_hf_kind { DG_HF_MARIAN, DG_HF_M2M100, DG_HF_NLLB };

struct dg_hf_options {
    enum dg_hf_kind kind;
    /* name of the list of languages of M2M-100's tokenizer; NULL: not given */
    const char *language_codes;
    /* according to the configuration, one table serves both embeddings */
    bool shared;
    /* according to the configuration, the softmax matrix is the target's table */
    bool tied;
    /* pieces that are never output have no probability either */
    bool renormalize;
    bool separate_vocabs;
    /* borrowed from the files */
    const char *eos_piece, *unk_piece;
    /* NULL: not given */
    const char *source_lang, *target_lang;
    /* version of transformers; name that the model was loaded by; NULL: not given */
    const char *version, *origin;
};

/* Read everything of *c except unk, ties, output bias and stored positions, which the vocabularies
 * and tensors decide. */
int dg_hf_config_read(const struct dg_hf_files *f, struct dg_config *c, struct dg_hf_options *o,
    struct dg_error *err);

#endif
