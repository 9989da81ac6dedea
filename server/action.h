/* What the server is asked for instead of serving: help, version, routes, settings, a check of
 * them, a plan of the memory. Prints to stdout. From main() alone, before any thread. */
#ifndef DG_SERVER_ACTION_H
#define DG_SERVER_ACTION_H

#include "server/config.h"

/* The exit status in *status: 1 where the answer is no, or stdout takes nothing. An error is to be
 * printed by the caller, which exits with 1 then. */
int dg_action_run(const struct dg_server_config *c, int *status, struct dg_error *err);

#endif
