/* GET /v1/languages and GET /v1/usage. */
#include "server/access/gate.h"
#include "server/api/api.h"
#include "server/http/reply.h"
#include "server/models/ways.h"
#include "text/language_name.h"

#include <stdlib.h>

/* [{"code", "through"?}] for each other language that the i-th one can be translated to. */
static struct dg_json *targets_of(
    const struct dg_model_languages *all, const struct dg_ways *ways, size_t i)
{
    struct dg_json *list = dg_json_new_array();
    for (size_t k = 0; k < all->n; k++) {
        if (k == i || ways->kinds[i][k] == DG_WAY_NONE)
            continue;
        struct dg_json *o = dg_json_new_object();
        dg_json_set_string(o, "code", all->codes[k]);
        if (ways->kinds[i][k] == DG_WAY_PIVOT)
            dg_json_set_string(o, "through", ways->through[i]);
        dg_json_append_take(list, o);
    }
    return list;
}

void dg_api_languages(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_model_languages all;
    dg_models_languages(app->models, DG_SOURCES | DG_TARGETS, &all);
    struct dg_ways *ways = dg_models_ways(app->models, &all, &all);
    struct dg_json *root = ways ? dg_json_new_object() : NULL, *list = dg_json_new_array();
    for (size_t i = 0; ways && i < all.n; i++) {
        struct dg_json *o = dg_json_new_object();
        char name[DG_LANGUAGE_NAME];
        dg_language_name(all.codes[i], name);
        dg_json_set_string(o, "code", all.codes[i]);
        dg_json_set_string(o, "name", name);
        dg_json_set_take(o, "targets", targets_of(&all, ways, i));
        dg_json_append_take(list, o);
    }
    free(ways);
    dg_json_set_take(root, "languages", list);
    dg_reply_with_take(x, 200, root);
}

/* The key's usage today (UTC). */
void dg_api_usage(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_json *root = dg_json_new_object();
    int64_t used, limit;
    dg_gate_usage(app->auth, x, &used, &limit);
    dg_json_set_int(root, "characters", used);
    if (limit > 0)
        dg_json_set_int(root, "limit", limit);
    dg_reply_with_take(x, 200, root);
}
