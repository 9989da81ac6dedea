/* Converts Marian's binary lexical shortlist ("lex.50.50.ende.s2t.bin") to a bundle's shortlist.
 * Any thread. Layout (little-endian): u64 magic, checksum, number of first ids that are always
 * included, maximum entries per piece, source pieces + 1, total entries; offsets (u64), then target
 * ids (u32) ascending in each list. */
#ifndef DG_CONVERT_MARIAN_LEXICON_H
#define DG_CONVERT_MARIAN_LEXICON_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_marian_lexicon {
    /* ids 0 .. first-1 are in every sentence's list */
    uint64_t first;
    /* number of pieces that have a list */
    uint32_t n_source;
    /* [n_source + 1] u64 offsets, and the u32 ids; both point into the file */
    const unsigned char *offsets, *ids;
};

/* Check everything but the ids' range; borrows the bytes. DG_EFORMAT. */
int dg_marian_lexicon_read(
    const void *data, size_t size, struct dg_marian_lexicon *out, struct dg_error *err);

/* Convert the file at `path` to the shortlist file `out` for vocabularies of these sizes. shared:
 * source and target pieces are the same, so a source piece is added to its own list. */
int dg_marian_lexicon_import(const char *path, uint32_t source_vocab, uint32_t target_vocab,
    bool shared, const char *out, struct dg_error *err);

#endif
