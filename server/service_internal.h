/* The part of the service that is in service_http.c. From main() alone, one thread. */
#ifndef DG_SERVER_SERVICE_INTERNAL_H
#define DG_SERVER_SERVICE_INTERNAL_H

#include "server/http/http.h"
#include "server/service.h"

/* Raise the process's limit of file descriptors to what its connections need. If the system forbids
 * it, the default number of connections is lowered; an explicit number is DG_EINVAL. */
int dg_service_raise_descriptors(struct dg_server_config *c, struct dg_error *err);
/* Listen and serve: from now on /livez answers. */
int dg_service_open_http(struct dg_service *s, struct dg_error *err);
/* Remove the Unix socket's file, while the socket still listens: once it does not, another server
 * may put its own there. */
void dg_service_unbind(struct dg_service *s);
/* A connection's limits, from the settings. */
struct dg_http_limits dg_service_http_limits(const struct dg_server_config *c);

#endif
