/* The certificate of a serving process, and its log lines. From main()'s thread alone. */
#ifndef DG_SERVER_CERTIFICATE_H
#define DG_SERVER_CERTIFICATE_H

#include "base/error.h"
#include "server/app.h"

/* Open the certificate that the settings name, if they name one, as app->tls, and log when it
 * expires. */
int dg_certificate_open(struct dg_app *app, struct dg_error *err);
/* Read the certificate again, for new connections; a broken one changes nothing. */
void dg_certificate_reload(struct dg_app *app);

#endif
