#include "server/api/metrics_stores.h"

#include "server/access/auth.h"
#include "server/glossaries/collections.h"
#include "server/uploads/uploads.h"
#include "store/suggestions.h"

/* By reason and not by key: an operator may hand out thousands of keys, and each would be a series
 * for as long as Prometheus keeps it. A key's usage is in the keys' file (dragoman keys usage). */
static void put_keys(struct dg_gauges *g, struct dg_app *app)
{
    static const char *const reasons[DG_AUTH_VERDICTS] = {
        NULL, "missing", "unknown", "expired", "scope", "rate", "quota"};
    struct dg_auth_counts c = {0};
    if (app->auth)
        dg_auth_count(app->auth, &c);
    dg_gauges_put(
        g, "dragoman_keys", "API keys that are not revoked; 0 without --keys.", (double)c.keys);
    for (int v = 1; v < DG_AUTH_VERDICTS; v++) {
        const char *const label[] = {"reason", reasons[v], NULL};
        dg_gauges_label(g, "dragoman_key_refusals_total",
            "Requests refused because of their API key.", (double)c.refused[v], label)
            ->counter = true;
    }
    dg_gauges_count(g, "dragoman_key_store_errors_total",
        "Failures to read or write the file of API keys.", (double)c.store_errors);
}

static void put_files(struct dg_gauges *g, const struct dg_app *app)
{
    const struct {
        const char *name;
        uint64_t failures;
    } stores[] = {{"documents", app->uploader ? dg_uploader_failures(app->uploader) : 0},
        {"collections", app->collections ? dg_collections_failures(app->collections) : 0},
        {"suggestions", app->suggestions ? dg_suggestions_failures(app->suggestions) : 0}};
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        const char *const label[] = {"store", stores[i].name, NULL};
        dg_gauges_label(g, "dragoman_store_errors_total",
            "Failures to read or write the file of --documents, --collections or --suggestions.",
            (double)stores[i].failures, label)
            ->counter = true;
    }
}

void dg_metrics_stores(struct dg_gauges *g, struct dg_app *app)
{
    put_keys(g, app);
    put_files(g, app);
}
