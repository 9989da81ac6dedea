#include "trainer/run/average.h"

#include "base/alloc.h"

#include <stdlib.h>

static int add_checkpoint(const char *path, double *sum, size_t n, struct dg_error *err)
{
    struct dg_checkpoint *c = NULL;
    int rc = dg_checkpoint_open(path, &c, err);
    if (!rc && c->blocks.n != n)
        rc = dg_error_set(
            err, DG_EFORMAT, "%s holds %zu parameters, expected %zu", path, c->blocks.n, n);
    if (!rc) {
        const float *x = c->blocks.ema ? c->blocks.ema : c->blocks.params;
        for (size_t i = 0; i < n; i++)
            sum[i] += (double)x[i];
    }
    dg_checkpoint_close(c);
    return rc;
}

int dg_average(const struct dg_checkpoint_dir *k, const uint64_t *steps, size_t count, float *out,
    size_t n, struct dg_error *err)
{
    double *sum = dg_alloc(n + 1, sizeof *sum, "the mean of checkpoints");
    int rc =
        count ? 0
              : dg_error_set(err, DG_ENOTFOUND, "there is no checkpoint to average in %s", k->dir);
    for (size_t i = 0; i < count && !rc; i++) {
        char *path = dg_checkpoint_dir_path(k, steps[i]);
        rc = add_checkpoint(path, sum, n, err);
        free(path);
    }
    for (size_t i = 0; i < n && !rc; i++)
        out[i] = (float)(sum[i] / (double)count);
    free(sum);
    return rc;
}
