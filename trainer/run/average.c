#include "trainer/run/average.h"

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

int dg_average(const struct dg_keeper *k, const uint64_t *steps, size_t count, float *out, size_t n,
    struct dg_error *err)
{
    double *sum = calloc(n + 1, sizeof *sum);
    int rc = !sum     ? dg_error_set(err, DG_ENOMEM, "no memory to average %zu parameters", n)
             : !count ? dg_error_set(
                            err, DG_ENOTFOUND, "there is no checkpoint to average in %s", k->dir)
                      : 0;
    for (size_t i = 0; i < count && !rc; i++) {
        char *path = dg_keeper_path(k, steps[i]);
        rc = path ? add_checkpoint(path, sum, n, err)
                  : dg_error_set(err, DG_ENOMEM, "no memory for a path");
        free(path);
    }
    for (size_t i = 0; i < n && !rc; i++)
        out[i] = (float)(sum[i] / (double)count);
    free(sum);
    return rc;
}
