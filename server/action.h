/* Actions instead of serving: help, version, routes, settings, a check of them, a memory plan.
 * Prints to stdout. From main() alone, before any thread. */
#ifndef DG_SERVER_ACTION_H
#define DG_SERVER_ACTION_H

#include "server/config.h"

/* Run the action; *status is the exit status: 1 if the memory plan does not fit. On an error, also
 * of stdout, the caller prints it and exits with 1. */
int dg_action_run(const struct dg_server_config *c, int *status, struct dg_error *err);

#endif
