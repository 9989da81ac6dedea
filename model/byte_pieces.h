/* Byte pieces: "<0xE2>" is one byte of a character that the vocabulary has no piece for. An
 * answer's bytes must form complete characters, so a search may choose a byte only if it continues
 * UTF-8: an automaton whose state is the bytes of the current character. Control characters are
 * not allowed either. Const after open; pure functions: any thread.
 *
 * Example: after "▁Haus <0xE2>" only 0x80 .. 0xBF may come, and after one of these another; then
 * anything but a byte that continues a character. */
#ifndef DG_MODEL_BYTE_PIECES_H
#define DG_MODEL_BYTE_PIECES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_byte_pieces {
    /* the piece of each byte; -1: there is none */
    int32_t id[256];
    /* [V] the byte of each piece; -1: the piece is no byte */
    int16_t *of;
};

/* Open the byte pieces id[256] of a vocabulary of V pieces. *out NULL: it has none. DG_ENOMEM. */
int dg_byte_pieces_open(
    const int32_t id[256], uint32_t V, struct dg_byte_pieces **out, struct dg_error *err);
void dg_byte_pieces_close(struct dg_byte_pieces *p); /* NULL is fine */

/* The byte pieces that one search may use. */
struct dg_byte_rule {
    /* borrowed; NULL: any piece may follow any other */
    const struct dg_byte_pieces *pieces;
    /* one bit per byte that the search has a piece for */
    uint64_t has[4];
};

/* The rule of a search that may use only ids[n], which ascend; NULL: every piece. pieces may be
 * NULL. */
struct dg_byte_rule dg_byte_rule_of(
    const struct dg_byte_pieces *pieces, const int32_t *ids, uint32_t n);

/* True if ids[n] end within a character. */
bool dg_byte_rule_within(const struct dg_byte_rule *r, const int32_t *ids, uint32_t n);
/* Whether `next` may follow ids[n], with room for this many pieces after it. */
bool dg_byte_rule_allows(
    const struct dg_byte_rule *r, const int32_t *ids, uint32_t n, int32_t next, uint32_t room);
/* Set the logits x[V] of pieces that may not follow ids[n] to -inf. */
void dg_byte_rule_forbid(const struct dg_byte_rule *r, const int32_t *ids, uint32_t n,
    uint32_t room, float *x, uint32_t V);

#endif
