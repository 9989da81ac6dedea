/* A vocabulary to be written to a bundle: pieces in the order of their ids. Private to convert/.
 * One thread at a time. */
#ifndef DG_CONVERT_VOCAB_H
#define DG_CONVERT_VOCAB_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_convert_vocab {
    struct dg_arena arena;
    /* [size] */
    const char **pieces;
    uint32_t size;
};

/* Make room for `size` pieces, all NULL. The vocabulary owns the arena. */
int dg_convert_vocab_init(struct dg_convert_vocab *v, uint32_t size, struct dg_error *err);
/* DG_EFORMAT (`path` begins the message) when a piece is missing, empty, holds a line end (the
 * bundle's file has one piece per line) or repeats. */
int dg_convert_vocab_check(
    const struct dg_convert_vocab *v, const char *path, struct dg_error *err);

/* Load ids 0 .. size - 1 of a Marian vocabulary: YAML of "piece: id" (.yml, .yaml) or a
 * SentencePiece model (.spm), which may hold more pieces (Marian cuts at dim-vocabs). DG_EFORMAT
 * when a piece is missing, empty, or repeats. */
int dg_convert_vocab_load_marian(
    const char *path, uint32_t size, struct dg_convert_vocab *v, struct dg_error *err);
void dg_convert_vocab_deinit(struct dg_convert_vocab *v); /* a zeroed one is fine */

bool dg_marian_vocab_is_spm(const char *path); /* by its name */
int32_t dg_convert_vocab_id(
    const struct dg_convert_vocab *v, const char *piece); /* -1 when there is none */
bool dg_convert_vocab_equal(const struct dg_convert_vocab *a, const struct dg_convert_vocab *b);

/* Write one piece per line. */
int dg_convert_vocab_write(
    const struct dg_convert_vocab *v, const char *path, struct dg_error *err);

#endif
