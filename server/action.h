/* Actions instead of serving: help, version, routes, settings, a check of them, a plan of the
 * memory. Prints to stdout. From main() alone, before any thread. */
#ifndef DG_SERVER_ACTION_H
#define DG_SERVER_ACTION_H

#include "server/config.h"

/* The exit status in *status: 1 if the answer is no, or stdout cannot be written. The caller prints
 * an error and exits with 1. */
int dg_action_run(const struct dg_server_config *c, int *status, struct dg_error *err);

#endif
