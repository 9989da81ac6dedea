/* The certificate of a serving process, opened by service.c. From main() alone, one thread. */
#ifndef DG_SERVER_SERVICE_TLS_H
#define DG_SERVER_SERVICE_TLS_H

#include "server/service.h"

/* Open the certificate that the settings name, if they name one, and log when it expires. */
int dg_service_open_tls(struct dg_service *s, struct dg_error *err);

#endif
