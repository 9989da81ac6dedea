/* Options for opening the models, from the server's settings. Any thread. */
#ifndef DG_SERVER_MODELS_OPTIONS_H
#define DG_SERVER_MODELS_OPTIONS_H

#include "server/config.h"
#include "server/models/models.h"

/* All but the devices; strings are borrowed from the settings. */
struct dg_models_options dg_models_options_of(const struct dg_server_config *c);
/* Choose the devices, and the number of workers if it is not set. */
int dg_models_options_devices(
    const struct dg_server_config *c, struct dg_models_options *models, struct dg_error *err);

#endif
