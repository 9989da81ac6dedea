/* Vocabularies and languages of M2M-100 and NLLB-200: pieces of one SentencePiece model under
 * fairseq's ids, then a piece for each language. Private to convert/. One thread at a time. */
#ifndef DG_CONVERT_HUGGINGFACE_MULTILINGUAL_H
#define DG_CONVERT_HUGGINGFACE_MULTILINGUAL_H

#include "convert/huggingface/config.h"
#include "convert/huggingface/vocab.h"
#include "convert/language.h"

/* Load M2M-100's vocab.json in `dir`, or the pieces of NLLB's SentencePiece model `spm`, and add
 * the languages. An id without a piece gets a name that occurs in no text. DG_EFORMAT. */
int dg_hf_multilingual_vocab(const struct dg_hf_options *o, const char *dir, const char *spm,
    uint32_t size, struct dg_convert_vocab *v, struct dg_error *err);

/* Get the BCP 47 code of a language's piece (__de__, deu_Latn), with a script if the language has
 * two. False: the piece is no language's. */
bool dg_hf_language_of(
    const struct dg_hf_options *o, const char *piece, char out[DG_LANGUAGE_BYTES]);

#endif
