/* Noise in the sources of a batch, on the fly: pieces are decoded to text, changed
 * (trainer/data/typing.h), and segmented again. One thread at a time. */
#ifndef DG_TRAINER_DATA_NOISE_H
#define DG_TRAINER_DATA_NOISE_H

#include "base/error.h"
#include "trainer/recipe/recipe.h"

#include <stddef.h>
#include <stdint.h>

struct dg_noise;

/* With the source vocabulary of a prepared folder; `how` is borrowed until close. */
int dg_noise_open(const char *prepared_dir, const struct dg_recipe_noise *how,
    struct dg_noise **out, struct dg_error *err);
void dg_noise_close(struct dg_noise *z); /* NULL is fine */

/* The source ids[n], </s> last, with noise; random numbers depend only on key. Control pieces stay.
 * out[room], room >= n; returns the number of written ids: ids itself if nothing changed, if the
 * text has unknown pieces, or if it would not fit. */
size_t dg_noise_add(struct dg_noise *z, const char *language, const int32_t *ids, size_t n,
    uint64_t key, int32_t *out, size_t room);

/* Is any of it wanted? */
static inline bool dg_noise_wanted(const struct dg_recipe_noise *how)
{
    return how && (how->letter_case > 0 || how->typos > 0 || how->merges > 0);
}

#endif
