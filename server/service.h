/* The parts of a serving process, opened and closed in their order. From main() alone, one thread;
 * the parts have threads of their own. */
#ifndef DG_SERVER_SERVICE_H
#define DG_SERVER_SERVICE_H

#include "base/error.h"
#include "server/app.h"

#include <stdint.h>

struct dg_http;
struct dg_workers;

/* Zeroed, with app.config set, before it is opened. */
struct dg_service {
    struct dg_app app;
    struct dg_http *http;
    struct dg_workers *workers;
    /* method and path of each, for the metrics */
    const char *(*routes)[3];
    uint16_t port;
    /* the Unix socket's file is ours */
    bool unix_bound;
};

/* Serve. After a failure, too, dg_service_close is due. */
int dg_service_open(struct dg_service *s, struct dg_error *err);
/* Live settings were read again: they hold from now on. */
void dg_service_apply(struct dg_service *s);
/* Fail the remaining requests and stop. Returns how many workers had their device fail. */
uint32_t dg_service_close(struct dg_service *s);

#endif
