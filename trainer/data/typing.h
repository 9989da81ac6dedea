/* Imitates how people type a sentence: in other letter case, with typos and missing blanks. Random
 * numbers depend only on the key. Any thread. */
#ifndef DG_TRAINER_DATA_TYPING_H
#define DG_TRAINER_DATA_TYPING_H

#include "base/buffer.h"
#include "base/error.h"
#include "trainer/recipe/recipe.h"

#include <stdint.h>

/* Append s[n], valid UTF-8, with typing errors. Reserved pieces (trainer/data/reserved.h) and
 * blanks beside them stay. Keys are those of the language's usual keyboard. */
int dg_typing(const struct dg_recipe_noise *how, const char *language, const char *s, size_t n,
    uint64_t key, struct dg_buffer *out, struct dg_error *err);

#endif
