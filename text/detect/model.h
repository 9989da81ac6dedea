/* The language model, linear over features.h: logits[language] = bias + the sum of the features'
 * weights. Its file:
 *   8 bytes "DGLANG1\n"; u32 languages (2 to 16); u32 buckets; f32 scale;
 *   for each language: 8 bytes of code, padded with zeros; f32 bias;
 *   s8 weights [buckets][languages], to be multiplied by scale.
 * Numbers are little-endian. Any thread. */
#ifndef DG_TEXT_DETECT_MODEL_H
#define DG_TEXT_DETECT_MODEL_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define DG_DETECT_MAGIC "DGLANG1\n"
#define DG_DETECT_LANGUAGES 16
#define DG_DETECT_CODE 8

struct dg_detect_model {
    size_t n;
    char codes[DG_DETECT_LANGUAGES][DG_DETECT_CODE + 1];
    float bias[DG_DETECT_LANGUAGES], scale;
    /* [DG_DETECT_BUCKETS][n], borrowed from the file's bytes */
    const int8_t *weights;
};

/* View the model file in bytes[size], which must outlive *out. DG_EFORMAT names the fault. */
int dg_detect_model_read(
    const unsigned char *bytes, size_t size, struct dg_detect_model *out, struct dg_error *err);
/* View the built-in model. */
void dg_detect_model_builtin(struct dg_detect_model *out);

/* logits[model->n] for s[n], valid UTF-8. Returns the number of words used. */
size_t dg_detect_model_logits(
    const struct dg_detect_model *model, const char *s, size_t n, double *logits);

#endif
