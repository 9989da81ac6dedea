/* One pair of lines at a time: made clean, or a reason to drop it. Pure but for the language check.
 * Any thread. */
#ifndef DG_TRAINER_DATA_CLEAN_H
#define DG_TRAINER_DATA_CLEAN_H

#include "base/buffer.h"
#include "base/error.h"
#include "trainer/recipe/recipe.h"

#include <stddef.h>
#include <stdint.h>

/* Why a pair is not trained on, in the order of the checks: the first that holds is counted. */
enum dg_drop {
    DG_KEEP,
    DG_DROP_UTF8,    /* not UTF-8, or a NUL */
    DG_DROP_CONTROL, /* control characters, or U+FFFD left by a broken conversion */
    DG_DROP_EMPTY,
    DG_DROP_SHORT, /* min_chars */
    DG_DROP_LONG,  /* max_chars */
    DG_DROP_RATIO, /* max_char_ratio */
    DG_DROP_IDENTICAL,
    DG_DROP_LETTERS, /* a side has none */
    DG_DROP_LANGUAGE,
    DG_DROP_OVERLAP,   /* with dev, test, held_out */
    DG_DROP_NEAR_COPY, /* of one of those */
    DG_DROP_DUPLICATE,
    DG_DROP_UNRELATED,   /* min_relation */
    DG_DROP_TOKENS,      /* max_tokens */
    DG_DROP_TOKEN_RATIO, /* max_token_ratio */
    DG_DROP_WEIGHT,      /* weight 0 */
    DG_N_DROPS
};

/* "not_utf8", "duplicate", ...; "kept". Static. */
const char *dg_drop_name(enum dg_drop why);

/* Append the clean form of line[n] to out: NFC, every run of white space one space, none at the
 * ends, invisible characters (zero width, soft hyphen, direction marks) left out. *why is DG_KEEP,
 * DG_DROP_UTF8 or DG_DROP_CONTROL; then nothing is appended. DG_ENOMEM is the only error. */
int dg_clean_line(
    const char *line, size_t n, struct dg_buffer *out, enum dg_drop *why, struct dg_error *err);

/* What holds against a pair of clean lines, by characters and language (not overlap, duplicates,
 * pieces). */
enum dg_drop dg_clean_pair(const struct dg_recipe_cleaning *c, const struct dg_recipe_pair *pair,
    const char *source, size_t source_len, const char *target, size_t target_len);

/* The same by pieces with </s>. */
enum dg_drop dg_clean_tokens(
    const struct dg_recipe_cleaning *c, size_t source_len, size_t target_len);

#endif
