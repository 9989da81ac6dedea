#include "server/certificate.h"
#include "base/clock.h"
#include "base/log.h"
#include "server/http/tls.h"

/* Logged for each certificate that comes into use. */
static void log_certificate(struct dg_tls *tls)
{
    const int64_t left_s = dg_tls_expires(tls) - (int64_t)dg_clock_wall_s();
    dg_log(left_s > 0 ? DG_LOG_INFO : DG_LOG_WARN, "certificate days_left=%.1f%s",
        (double)left_s / 86400, left_s > 0 ? "" : " expired=yes");
}

int dg_certificate_open(struct dg_app *app, struct dg_error *err)
{
    const struct dg_server_config *c = &app->config;
    if (c->tls_certificate[0] == '\0')
        return DG_OK;
    int rc = dg_tls_open(c->tls_certificate, c->tls_key, &app->tls, err);
    if (rc == DG_OK)
        log_certificate(app->tls);
    return rc;
}

void dg_certificate_reload(struct dg_app *app)
{
    struct dg_error err = {0};
    if (!app->tls)
        return;
    const bool failed = dg_tls_reload(app->tls, &err) != DG_OK;
    atomic_store(&app->not_reloaded[DG_PART_CERTIFICATE], failed);
    if (!failed)
        log_certificate(app->tls);
    else
        dg_log(DG_LOG_ERROR, "certificate not reloaded message=\"%s\"", err.message);
}
