/* A vocabulary on its way into a bundle: pieces in the order of their ids. Private to
 * weights/convert/. */
#ifndef DG_WEIGHTS_CONVERT_VOCAB_H
#define DG_WEIGHTS_CONVERT_VOCAB_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_marian_vocab {
    struct dg_arena arena;
    const char **pieces; /* [size] */
    uint32_t size;
};

/* Ids 0 .. size - 1 of a Marian vocabulary: YAML of "piece: id" (.yml, .yaml) or a SentencePiece
 * model (.spm), which may hold more (Marian cuts at dim-vocabs). DG_EFORMAT when one is missing,
 * empty, or there twice. */
int dg_marian_vocab_load(
    const char *path, uint32_t size, struct dg_marian_vocab *v, struct dg_error *err);
void dg_marian_vocab_deinit(struct dg_marian_vocab *v); /* a zeroed one is fine */

bool dg_marian_vocab_is_spm(const char *path); /* by its name */
int32_t dg_marian_vocab_id(
    const struct dg_marian_vocab *v, const char *piece); /* -1 when there is none */
bool dg_marian_vocab_equal(const struct dg_marian_vocab *a, const struct dg_marian_vocab *b);

/* Write one piece a line. */
int dg_marian_vocab_write(const struct dg_marian_vocab *v, const char *path, struct dg_error *err);

#endif
