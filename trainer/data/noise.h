/* Noise in the sources of a batch, on the fly: pieces are decoded to text, changed
 * (trainer/data/typing.h), and segmented again. One thread at a time. */
#ifndef DG_TRAINER_DATA_NOISE_H
#define DG_TRAINER_DATA_NOISE_H

#include "base/error.h"
#include "trainer/recipe/recipe.h"

#include <stddef.h>
#include <stdint.h>

struct dg_noise;

/* Open with the source vocabulary of a prepared folder; `how` is borrowed until close. */
int dg_noise_open(const char *prepared_dir, const struct dg_recipe_noise *how,
    struct dg_noise **out, struct dg_error *err);
void dg_noise_close(struct dg_noise *z); /* NULL is fine */

/* Write the source ids[n], </s> last, with noise to out[room], room >= n, and return the number of
 * ids written. Random numbers depend only on key. Leading control pieces stay. The ids stay
 * unchanged if the noise changes nothing, if the text has unknown or other control pieces, or if
 * the result would not fit. */
size_t dg_noise_add(struct dg_noise *z, const char *language, const int32_t *ids, size_t n,
    uint64_t key, int32_t *out, size_t room);

/* True if any noise is on. */
static inline bool dg_noise_wanted(const struct dg_recipe_noise *how)
{
    return how && (how->letter_case > 0 || how->typos > 0 || how->merges > 0);
}

#endif
