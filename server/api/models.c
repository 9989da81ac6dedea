#include "server/api/api.h"

#include "server/api/routes.h"
#include "server/http/reply.h"
#include "server/models/describe.h"

void dg_api_models(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_json *root = dg_json_new_object();
    dg_json_set_take(root, "models", dg_models_describe(app->models));
    dg_reply_with_take(x, 200, root);
}

void dg_api_model_card(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {0};
    struct dg_json *card = NULL;
    char version[80];
    dg_routes_id(dg_http_request(x)->path, version, sizeof version);
    if (dg_models_card(app->models, version, &card))
        dg_reply_json_take(&r, 200, card);
    else
        dg_reply_error(&r, 404, "not_found", "version",
            "no served model has this version: GET /v1/models lists the models");
    dg_http_reply_take(x, &r);
}
