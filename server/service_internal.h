/* The part of service.h that service_http.c does. From main() alone, one thread. */
#ifndef DG_SERVER_SERVICE_INTERNAL_H
#define DG_SERVER_SERVICE_INTERNAL_H

#include "server/http/http.h"
#include "server/service.h"

/* Raise the process's limit to the descriptors that its connections take. If the system forbids it,
 * the default number of connections is lowered, and a chosen one is DG_EINVAL. */
int dg_service_raise_descriptors(struct dg_server_config *c, struct dg_error *err);
/* Listen and serve: from now on /livez answers. */
int dg_service_open_http(struct dg_service *s, struct dg_error *err);
/* The settings' limits of a connection. */
struct dg_http_limits dg_service_http_limits(const struct dg_server_config *c);

#endif
