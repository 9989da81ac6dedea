/* Cleans one pair of lines at a time, or gives the reason to drop it. Pure apart from the language
 * check. Any thread. */
#ifndef DG_TRAINER_DATA_CLEAN_H
#define DG_TRAINER_DATA_CLEAN_H

#include "base/buffer.h"
#include "base/error.h"
#include "trainer/recipe/recipe.h"

#include <stddef.h>
#include <stdint.h>

/* Why a pair is dropped, in the order of the checks: only the first reason is counted. */
enum dg_drop {
    DG_KEEP,
    DG_DROP_UTF8,    /* not UTF-8, or a NUL */
    DG_DROP_CONTROL, /* control characters, or U+FFFD left by a broken conversion */
    DG_DROP_EMPTY,
    DG_DROP_SHORT, /* min_chars */
    DG_DROP_LONG,  /* max_chars */
    DG_DROP_RATIO, /* max_char_ratio */
    DG_DROP_IDENTICAL,
    DG_DROP_LETTERS, /* a side without letters */
    DG_DROP_LANGUAGE,
    DG_DROP_OVERLAP,   /* a line of dev, test or held_out */
    DG_DROP_NEAR_COPY, /* of such a line */
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
 * ends, invisible characters (zero width, soft hyphen, direction marks) removed. *why is DG_KEEP,
 * or DG_DROP_UTF8 or DG_DROP_CONTROL with nothing appended. Errors are those of dg_utf8_nfc. */
int dg_clean_line(
    const char *line, size_t n, struct dg_buffer *out, enum dg_drop *why, struct dg_error *err);

/* Return why a pair of clean lines is dropped, by characters and language only (not by overlap,
 * duplicates or tokens), or DG_KEEP. */
enum dg_drop dg_clean_pair(const struct dg_recipe_cleaning *c, const struct dg_recipe_pair *pair,
    const char *source, size_t source_len, const char *target, size_t target_len);

/* Likewise, by the numbers of tokens, </s> included. */
enum dg_drop dg_clean_tokens(
    const struct dg_recipe_cleaning *c, size_t source_len, size_t target_len);

#endif
