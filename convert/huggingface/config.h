/* config.json, generation_config.json and tokenizer_config.json of a MarianMT, M2M-100 or NLLB
 * directory as our configuration. Settings that mean another model or another choice of pieces are
 * refused by name and value. Private to convert/. One thread at a time. */
#ifndef DG_CONVERT_HUGGINGFACE_CONFIG_H
#define DG_CONVERT_HUGGINGFACE_CONFIG_H

#include "base/json.h"
#include "model/config.h"

#include <stdbool.h>

/* The directory's JSON files; NULL if there is none (config is required). */
struct dg_hf_files {
    struct dg_json *config, *generation, *tokenizer;
};

enum dg_hf_kind { DG_HF_MARIAN, DG_HF_M2M100, DG_HF_NLLB };

struct dg_hf_options {
    enum dg_hf_kind kind;
    /* of M2M-100's tokenizer, which list of languages; NULL: not given */
    const char *language_codes;
    /* one table for both embeddings, according to the configuration */
    bool shared;
    /* the softmax matrix is the target's table, likewise */
    bool tied;
    /* pieces that are never output have no probability either */
    bool renormalize;
    bool separate_vocabs;
    int32_t pad;
    /* borrowed from the files */
    const char *eos_piece, *unk_piece;
    /* NULL: not given */
    const char *source_lang, *target_lang;
    /* of transformers; the name it was loaded by; NULL: not given */
    const char *version, *origin;
};

/* Everything of *c but ids of pieces' names, ties and learned positions, which the tensors and
 * vocabularies decide. */
int dg_hf_config_read(const struct dg_hf_files *f, struct dg_config *c, struct dg_hf_options *o,
    struct dg_error *err);

#endif
