#include "text/detect/model.h"

#include "text/detect/builtin.h"
#include "text/detect/features.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { HEAD = 20, LANGUAGE = 12 }; /* bytes */

static uint32_t read_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static float read_f32(const unsigned char *p)
{
    const uint32_t bits = read_u32(p);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

int dg_detect_model_read(
    const unsigned char *bytes, size_t size, struct dg_detect_model *out, struct dg_error *err)
{
    memset(out, 0, sizeof *out);
    if (size < HEAD || memcmp(bytes, DG_DETECT_MAGIC, 8) != 0)
        return dg_error_set(err, DG_EFORMAT, "language model: it does not begin with DGLANG1");
    const uint32_t n = read_u32(bytes + 8), buckets = read_u32(bytes + 12);
    if (n < 2 || n > DG_DETECT_LANGUAGES || buckets != DG_DETECT_BUCKETS)
        return dg_error_set(err, DG_EFORMAT,
            "language model: %u languages and %u buckets, expected 2 to %d and %d", n, buckets,
            DG_DETECT_LANGUAGES, DG_DETECT_BUCKETS);
    const size_t expected = HEAD + (size_t)n * LANGUAGE + (size_t)n * buckets;
    if (size != expected)
        return dg_error_set(
            err, DG_EFORMAT, "language model: %zu bytes, expected %zu", size, expected);
    out->n = n;
    out->scale = read_f32(bytes + 16);
    const unsigned char *p = bytes + HEAD;
    for (size_t i = 0; i < n; i++, p += LANGUAGE) {
        memcpy(out->codes[i], p, DG_DETECT_CODE);
        out->bias[i] = read_f32(p + DG_DETECT_CODE);
        if (!out->codes[i][0] || !isfinite(out->bias[i]))
            return dg_error_set(
                err, DG_EFORMAT, "language model: language %zu has no code or no bias", i + 1);
    }
    if (!(out->scale > 0) || !isfinite(out->scale))
        return dg_error_set(err, DG_EFORMAT, "language model: its scale is not above 0");
    out->weights = (const int8_t *)p;
    return 0;
}

void dg_detect_model_builtin(struct dg_detect_model *out)
{
    const int rc = dg_detect_model_read(dg_detect_builtin, dg_detect_builtin_size, out, NULL);
    assert(rc == 0);
    (void)rc;
}

struct sums {
    const struct dg_detect_model *model;
    int64_t sum[DG_DETECT_LANGUAGES];
};

static void add(void *ctx, uint32_t bucket)
{
    struct sums *s = ctx;
    for (size_t i = 0; i < s->model->n; i++)
        s->sum[i] += s->model->weights[(size_t)bucket * s->model->n + i];
}

size_t dg_detect_model_logits(
    const struct dg_detect_model *model, const char *s, size_t n, double *logits)
{
    struct sums sums = {.model = model};
    const size_t words = dg_detect_features(s, n, add, &sums);
    for (size_t i = 0; i < model->n; i++)
        logits[i] = (double)model->bias[i] + (double)model->scale * (double)sums.sum[i];
    return words;
}
