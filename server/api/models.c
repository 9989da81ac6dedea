#include "server/api/api.h"

#include "server/http/reply.h"
#include "server/models/describe.h"

void dg_api_models(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {0};
    struct dg_json *root = dg_json_new_object();
    dg_json_set_take(root, "models", dg_models_describe(app->models));
    dg_reply_json_take(&r, 200, root);
    dg_http_reply_take(x, &r);
}
