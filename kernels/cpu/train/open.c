/* Opens the training ops of any backend: the CPU's are in this library, other devices bring
 * theirs. */
#include "kernels/train.h"

int dg_train_open(struct dg_backend *be, struct dg_train **out, struct dg_error *err)
{
    if (be->ops->train_open)
        return be->ops->train_open(be, out, err);
    if (!be->ops->on_host)
        return dg_error_set(err, DG_EUNSUP, "%s cannot train", be->name);
    return dg_cpu_train_open(be, out, err);
}

void dg_train_close(struct dg_train *t)
{
    if (t)
        t->ops->close(t);
}
