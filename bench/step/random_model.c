#include "bench/step/random_model.h"

#include "bench/random.h"
#include "kernels/cpu/int8.h"
#include "kernels/cpu/quantize.h"
#include "model/params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Matrices with Glorot's variance, gains about 1. */
static void fill(const struct dg_param_info *info, float *x, uint64_t *state)
{
    float centre = strstr(info->name, "gain") ? 1.0f : 0.0f;
    float range = info->N == 1 ? 0.05f : sqrtf(6.0f / (float)(info->N + info->K));
    for (size_t i = 0; i < (size_t)info->N * info->K; i++)
        x[i] = centre + range * ((float)dg_bench_number(state) / 1073741824.0f - 1.0f);
}

static int add_int8(struct dg_weights_writer *w, const struct dg_param_info *info, const float *x,
    struct dg_error *err)
{
    int8_t *q = malloc((size_t)info->N * info->K);
    float *scales = malloc(info->N * sizeof *scales);
    int rc = q && scales && dg_quantize_rows(x, info->N, info->K, DG_INT8_STEPS, q, scales)
                 ? 0
                 : dg_error_set(err, DG_ENOMEM, "no memory for tensor %s", info->name);
    struct dg_stored rows = {DG_S8, DG_LAYOUT_ROWS, q, scales};
    if (!rc)
        rc = dg_weights_writer_add_rows(w, info->name, info->N, info->K, &rows, err);
    free(q);
    free(scales);
    return rc;
}

static int add(struct dg_weights_writer *w, const struct dg_param_info *info, bool int8,
    uint64_t *state, struct dg_error *err)
{
    float *x = malloc((size_t)info->N * info->K * sizeof *x);
    if (!x)
        return dg_error_set(err, DG_ENOMEM, "no memory for tensor %s", info->name);
    fill(info, x, state);
    int rc = int8 && (info->use & DG_USE_MATRIX)
                 ? add_int8(w, info, x, err)
                 : dg_weights_writer_add(w, info->name, info->N, info->K, DG_F32, x, err);
    free(x);
    return rc;
}

int dg_random_weights(
    const struct dg_config *c, bool int8, struct dg_weights **out, struct dg_error *err)
{
    const char *tmp = getenv("TMPDIR");
    char path[512];
    struct dg_weights_writer *w = NULL;
    uint64_t state = 17;
    snprintf(path, sizeof path, "%s/dragoman-bench-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0)
        return dg_error_set(err, DG_EIO, "%s cannot be made", path);
    close(fd);
    int rc = dg_weights_writer_open(&w, err);
    for (size_t i = 0; i < dg_params_count(c) && !rc; i++) {
        struct dg_param_info info;
        dg_params_info(c, i, &info);
        rc = add(w, &info, int8, &state, err);
    }
    if (!rc)
        rc = dg_weights_writer_commit(w, path, err);
    dg_weights_writer_close(w);
    if (!rc)
        rc = dg_weights_open(path, out, err);
    unlink(path); /* the mapping keeps the file */
    return rc;
}
