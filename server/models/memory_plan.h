/* --plan: how much memory the settings can take, and whether that much is available. Opens each
 * model in turn to measure its memory. One thread. */
#ifndef DG_SERVER_MODELS_MEMORY_PLAN_H
#define DG_SERVER_MODELS_MEMORY_PLAN_H

#include "base/buffer.h"
#include "server/config.h"
#include "server/models/models.h"

#include <stdbool.h>

/* Append the plan as text; *fits: it is within the limits of this process and of every GPU. */
int dg_memory_plan_write(const struct dg_server_config *c, const struct dg_models_options *options,
    struct dg_buffer *b, bool *fits, struct dg_error *err);

#endif
