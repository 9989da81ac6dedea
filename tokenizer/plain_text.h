/* The text of ids that need no SentencePiece: where every piece is letters and word marks, its text
 * is the letters with a space for each mark. SentencePiece gives the same result (checked at open)
 * forty times more slowly, because it looks up every piece by its letters. Byte pieces, control
 * pieces, unknown ones and pieces that the model lacks are not plain: the library decodes those.
 * Any thread: const after open. */
#ifndef DG_TOKENIZER_PLAIN_TEXT_H
#define DG_TOKENIZER_PLAIN_TEXT_H

#include "base/error.h"
#include "tokenizer/spm_processor.h"
#include "tokenizer/vocab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_plain_text {
    /* [vocab's size]; NULL: none is plain */
    uint8_t *plain;
    /* Is the word mark of the first piece left out? */
    bool strips;
};

/* from_spm[dg_spm_size]: the model's id -> the vocabulary's, or -1. A model whose texts are not so
 * plain is no error. DG_ENOMEM. */
int dg_plain_text_open(struct dg_plain_text *p, const struct dg_spm *spm,
    const struct dg_vocab *vocab, const int32_t *from_spm, struct dg_error *err);
void dg_plain_text_deinit(struct dg_plain_text *p);

/* The text of ids[count], each within the vocabulary, malloc'd and NUL-terminated, and ends[count]
 * as dg_spm_decode has them. False: not all are plain, or there is no memory. */
bool dg_plain_text_decode(const struct dg_plain_text *p, const struct dg_vocab *vocab,
    const int32_t *ids, size_t count, char **text, size_t *len, uint32_t *ends);

#endif
