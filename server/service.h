/* The parts of a serving process, opened and closed in order. From main() alone, one thread; the
 * parts have threads of their own. */
#ifndef DG_SERVER_SERVICE_H
#define DG_SERVER_SERVICE_H

#include "base/error.h"
#include "server/app.h"

#include <stdint.h>

struct dg_http;
struct dg_workers;

/* Zeroed, with app.config and stops set, before it is opened. */
struct dg_service {
    struct dg_app app;
    /* whether the process was told to stop; asked while models load; NULL: never */
    bool (*stops)(void);
    struct dg_http *http;
    struct dg_workers *workers;
    /* method, path and API of each route, for the metrics */
    const char *(*routes)[3];
    uint16_t port;
    /* the Unix socket's file is this process's */
    bool unix_bound;
};

/* Start serving. Call dg_service_close afterwards, also after a failure. DG_ECANCELED: the process
 * was told to stop before it was ready. */
int dg_service_open(struct dg_service *s, struct dg_error *err);
/* Apply live settings after they were read again. */
void dg_service_apply(struct dg_service *s);
/* Accept no more; returns at once (dg_http_drained). */
void dg_service_drain(struct dg_service *s);
/* Fail the remaining requests and stop. Returns how many workers had a device failure. */
uint32_t dg_service_close(struct dg_service *s);

#endif
