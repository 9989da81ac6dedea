/* Decodes ids without SentencePiece if every piece is only letters and word marks: the text is the
 * letters, with a space for each mark. SentencePiece gives the same result (checked at open) but is
 * forty times slower, because it looks up every piece by its letters. Byte pieces, control pieces,
 * unknown ones and pieces that the model lacks are not plain: the library decodes those. Constant
 * after open: any thread. */
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
    /* the word mark of the first piece is dropped */
    bool strips;
};

/* from_spm[dg_spm_size] maps the model's ids to the vocabulary's, or -1. A model for which plain
 * decoding gives other texts is not an error: dg_plain_text_decode is then always false.
 * DG_ENOMEM. */
int dg_plain_text_open(struct dg_plain_text *p, const struct dg_spm *spm,
    const struct dg_vocab *vocab, const int32_t *from_spm, struct dg_error *err);
void dg_plain_text_deinit(struct dg_plain_text *p);

/* Decode ids[count], each within the vocabulary, to a malloc'd, NUL-terminated text and ends[count]
 * as in dg_spm_decode. False: not all ids are plain, or out of memory. */
bool dg_plain_text_decode(const struct dg_plain_text *p, const struct dg_vocab *vocab,
    const int32_t *ids, size_t count, char **text, size_t *len, uint32_t *ends);

#endif
