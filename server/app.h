/* What the handlers share: settings, models, queue, state. One per process, made by main. Const but for `state`. */
#ifndef DG_SERVER_APP_H
#define DG_SERVER_APP_H

#include "server/config.h"
#include "server/models.h"
#include "server/queue.h"

#include <stdatomic.h>

enum dg_app_state { DG_APP_STARTING, DG_APP_READY, DG_APP_DRAINING };

struct dg_app {
    struct dg_server_config config;
    struct dg_models *models;
    struct dg_queue *queue;
    _Atomic enum dg_app_state state;
};

#endif
