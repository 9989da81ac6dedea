/* vocab.json as a vocabulary, and the languages of a MarianMT model: tags such as >>deu<< in its
 * vocabulary, or what the caller and tokenizer_config.json say. Private to convert/. */
#ifndef DG_CONVERT_HUGGINGFACE_VOCAB_H
#define DG_CONVERT_HUGGINGFACE_VOCAB_H

#include "base/json.h"
#include "convert/huggingface/config.h"
#include "convert/vocab.h"

/* Ids 0 .. size - 1 of an object of piece to id. An id without a piece gets a name that no text
 * has, such as <id:17>. DG_EFORMAT names a piece with a wrong id. */
int dg_hf_vocab_load(
    const char *path, uint32_t size, struct dg_convert_vocab *v, struct dg_error *err);

/* Fill the manifest's "pairs" and, for a model with tags, "tags". sources and targets: codes with
 * commas between, as the caller wants them called; NULL: what the directory says. With tags,
 * targets chooses among them. */
int dg_hf_languages_write(const struct dg_convert_vocab *v, const struct dg_hf_options *o,
    const char *sources, const char *targets, struct dg_json *manifest, struct dg_error *err);

#endif
