/* C interface to SentencePiece's processor; ids are the model's own. Only for tokenizer/ and the
 * converter. Constant after open: any thread. No C++ exception leaves it. */
#ifndef DG_TOKENIZER_SPM_PROCESSOR_H
#define DG_TOKENIZER_SPM_PROCESSOR_H

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_spm;

/* DG_ENOTFOUND: no such file; DG_EFORMAT: not a SentencePiece model. */
int dg_spm_open(const char *path, struct dg_spm **out, struct dg_error *err);
void dg_spm_close(struct dg_spm *spm); /* NULL is fine */

int32_t dg_spm_size(const struct dg_spm *spm);
/* Piece of id 0..size-1; *n its bytes. Valid until close. */
const char *dg_spm_piece(const struct dg_spm *spm, int32_t id, size_t *n);
int32_t dg_spm_unk(const struct dg_spm *spm);
/* True if the piece is only its letters: not a byte, control, unknown or unused piece. */
bool dg_spm_is_plain(const struct dg_spm *spm, int32_t id);
/* The byte of a byte piece; -1 for other pieces. */
int dg_spm_byte(const struct dg_spm *spm, int32_t id);
/* True if the model has a denormaliser, which rewrites decoded text. */
bool dg_spm_rewrites(const struct dg_spm *spm);

struct dg_spm_token {
    int32_t id;
    /* bytes of the input */
    uint32_t begin, end;
    /* for the unknown id: its piece, if that is one code point; else "" */
    char single[5];
};

/* Most text that SentencePiece gets at once: it takes up to 2 KB of memory for each byte. */
#define DG_SPM_MAX_BYTES ((size_t)1 << 20)

/* Encode text[n]; *tokens [*count] is malloc'd. DG_ELIMIT: n > DG_SPM_MAX_BYTES. */
int dg_spm_encode(const struct dg_spm *spm, const char *text, size_t n,
    struct dg_spm_token **tokens, size_t *count, struct dg_error *err);

/* Decode pieces[count]; *text is malloc'd and NUL-terminated. ends[count]: where each piece's text
 * ends; the first piece begins at 0, each other one where the piece before it ends. An unknown
 * piece is decoded as its own letters. */
int dg_spm_decode(const struct dg_spm *spm, const char *const *pieces, size_t count, char **text,
    size_t *len, uint32_t *ends, struct dg_error *err);

#ifdef __cplusplus
}
#endif

#endif
