/* Reads vocab.json as a vocabulary, and finds the languages of a model: tags such as >>deu<< in its
 * vocabulary, pieces such as __de__, or those of the caller and tokenizer_config.json. Private to
 * convert/. One thread at a time. */
#ifndef DG_CONVERT_HUGGINGFACE_VOCAB_H
#define DG_CONVERT_HUGGINGFACE_VOCAB_H

#include "base/json.h"
#include "convert/huggingface/config.h"
#include "convert/vocab.h"

/* Load ids 0 .. size - 1 from an object of piece to id. An id without a piece gets a name that
 * occurs in no text, such as <id:17>. DG_EFORMAT names a piece with a wrong id. */
int dg_hf_vocab_load(
    const char *path, uint32_t size, struct dg_convert_vocab *v, struct dg_error *err);

/* The two halves of dg_hf_vocab_load. The first reads *n pieces into an initialised vocabulary; the
 * second names the ids without a piece and checks the vocabulary. */
int dg_hf_vocab_take(
    const char *path, struct dg_convert_vocab *v, uint32_t *n, struct dg_error *err);
int dg_hf_vocab_fill(struct dg_convert_vocab *v, const char *path, struct dg_error *err);

/* Fill the manifest's "pairs" and, for a model with tags, "tags" or "source_tags" and
 * "target_tags". sources and targets: codes separated by commas, which the bundle uses as written;
 * NULL: those of the directory. With tags, targets chooses among them; for M2M-100 and NLLB both
 * choose, and NULL means all languages. */
int dg_hf_languages_write(const struct dg_convert_vocab *v, const struct dg_hf_options *o,
    const char *sources, const char *targets, struct dg_json *manifest, struct dg_error *err);

#endif
