/* Text <-> pieces <-> ids of one bundle's vocabularies. Independent of tensors.
 * Constant after open: any thread. Text must be valid UTF-8 without NUL (text/utf8.h checks). */
#ifndef DG_TOKENIZER_TOKENIZER_H
#define DG_TOKENIZER_TOKENIZER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_tokenizer;

/* Open one side of a model. spm may be "" (pieces only). vocab: a file with one piece a line, line
 * number = id. The ids are those of the vocabulary file, whatever the SentencePiece model's own
 * are. Nothing is escaped in that file: a piece is one or more bytes other than NUL and newline.
 * DG_EFORMAT: a broken file, or files that do not match each other. */
int dg_tokenizer_open(
    const char *spm, const char *vocab, struct dg_tokenizer **out, struct dg_error *err);
void dg_tokenizer_close(struct dg_tokenizer *t); /* NULL is fine */

bool dg_tokenizer_has_text(const struct dg_tokenizer *t); /* false: pieces only */
uint32_t dg_tokenizer_size(const struct dg_tokenizer *t); /* vocabulary size */
int32_t dg_tokenizer_id(
    const struct dg_tokenizer *t, const char *piece); /* if missing: the unknown piece's id or -1 */
bool dg_tokenizer_has_piece(const struct dg_tokenizer *t, const char *piece);
const char *dg_tokenizer_piece(const struct dg_tokenizer *t, int32_t id); /* "" when out of range */
int32_t dg_tokenizer_unk(const struct dg_tokenizer *t); /* -1 when there is none */

/* The id of each byte's piece ("<0xE2>"), with which characters outside the vocabulary are spelt;
 * -1: none. */
void dg_tokenizer_bytes(const struct dg_tokenizer *t, int32_t id[256]);

struct dg_token {
    int32_t id;
    /* bytes of the input text that it covers; empty for all byte-fallback pieces of a character
     * except the last */
    uint32_t begin, end;
};

/* Encode text[n]; no </s> is added. Text never produces control pieces (</s>, language tags), but
 * it can produce a model's user-defined pieces: do not use those as tags. A run of characters
 * outside the vocabulary is one unknown. *tokens is malloc'd (caller frees), *count its length. */
int dg_tokenizer_encode(const struct dg_tokenizer *t, const char *text, size_t n,
    struct dg_token **tokens, size_t *count, struct dg_error *err);

/* [n] spans of a text with their ids. */
struct dg_token_spans {
    const struct dg_token *list;
    size_t n;
};

/* Likewise, but each span (bytes begin..end of text, in order, not nested) becomes its id, whatever
 * its bytes are: a reserved piece for protected text. Word marks come out as around a word.
 * DG_EUNSUP if the vocabulary has no byte pieces and spans touch each other or other unknown
 * characters. */
int dg_tokenizer_encode_spans(const struct dg_tokenizer *t, const char *text, size_t n,
    const struct dg_token_spans *spans, struct dg_token **tokens, size_t *count,
    struct dg_error *err);

/* Decode ids (control pieces such as </s> give nothing). *text is malloc'd and NUL-terminated, *len
 * its bytes. spans (optional, [count]) receives for each id the bytes of *text that it produced. An
 * unknown id gives U+2047 surrounded as SentencePiece does; callers replace it (contract 7). */
int dg_tokenizer_decode(const struct dg_tokenizer *t, const int32_t *ids, size_t count, char **text,
    size_t *len, struct dg_token *spans, struct dg_error *err);

/* Write the vocabulary file of a SentencePiece model, in the model's own order. DG_EUNSUP: a piece
 * that does not fit on a line. */
int dg_tokenizer_write_vocab(const char *spm, const char *path, struct dg_error *err);

#endif
