#include "server/models/options.h"

#include "base/cores.h"

#define MAX_TARGET 1024 /* positions of one output, and of the models */
#define MOST_WORKERS 4  /* unless a setting says more: each has its own cache */

struct dg_models_options dg_models_options_of(const struct dg_server_config *c)
{
    int64_t threads = c->threads > 0 ? c->threads : dg_cores_available();
    return (struct dg_models_options){
        .workers = (uint32_t)c->workers,
        .compute_threads = (uint32_t)threads,
        .nice = (int)c->worker_nice,
        .limits = {.max_rows = (uint32_t)c->batch_rows,
            .max_sentences = (uint32_t)c->batch_sentences,
            .max_target = MAX_TARGET,
            .max_beam = (uint32_t)c->max_beam},
        .step_rows = (uint32_t)c->step_rows,
        .memory = (size_t)c->model_memory,
        .aliases = c->aliases,
        .pivot = c->pivot,
    };
}

/* On a GPU a batch is best not split. On a CPU several small batches in parallel are faster than
 * one that is split over the cores (docs/serving-bench.md), unless --threads is set. */
static uint32_t choose_workers(const struct dg_server_config *c, const struct dg_device *device)
{
    int cores = dg_cores_available();
    if (device->cuda || c->threads > 0)
        return 1;
    return (uint32_t)(cores < MOST_WORKERS ? cores : MOST_WORKERS);
}

int dg_models_options_devices(
    const struct dg_server_config *c, struct dg_models_options *models, struct dg_error *err)
{
    const struct dg_device_options o = {.device = c->device, .precision = c->precision};
    int rc = dg_devices_choose(&o, &models->devices, err);
    if (rc == DG_OK && models->workers == 0)
        models->workers = choose_workers(c, &models->devices.list[0]);
    return rc;
}
