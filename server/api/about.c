/* GET /v1/languages and GET /v1/usage. */
#include "server/access/gate.h"
#include "server/api/api.h"
#include "server/http/reply.h"
#include "server/models/models.h"
#include "text/language_name.h"

#include <string.h>

/* {"code", "through"?} if source can be translated to target; NULL: it cannot, or is the same. */
static struct dg_json *target_of(struct dg_models *m, const char *source, const char *target)
{
    struct dg_way way;
    if (strcmp(source, target) == 0 || dg_models_way(m, source, target, true, &way, NULL) != DG_OK)
        return NULL;
    struct dg_json *o = dg_json_new_object();
    dg_json_set_string(o, "code", target);
    if (way.n > 1)
        dg_json_set_string(o, "through", way.hops[0].pair[1]);
    dg_way_release(&way);
    return o;
}

void dg_api_languages(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_model_languages all;
    struct dg_http_reply r = {0};
    struct dg_json *root = dg_json_new_object(), *list = dg_json_new_array();
    dg_models_languages(app->models, DG_SOURCES | DG_TARGETS, &all);
    for (size_t i = 0; i < all.n; i++) {
        struct dg_json *o = dg_json_new_object(), *targets = dg_json_new_array();
        char name[DG_LANGUAGE_NAME];
        dg_language_name(all.codes[i], name);
        dg_json_set_string(o, "code", all.codes[i]);
        dg_json_set_string(o, "name", name);
        for (size_t k = 0; k < all.n; k++) {
            struct dg_json *target = target_of(app->models, all.codes[i], all.codes[k]);
            if (target)
                dg_json_append_take(targets, target);
        }
        dg_json_set_take(o, "targets", targets);
        dg_json_append_take(list, o);
    }
    dg_json_set_take(root, "languages", list);
    dg_reply_json_take(&r, 200, root);
    dg_http_reply_take(x, &r);
}

/* The key's usage today (UTC). */
void dg_api_usage(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {0};
    struct dg_json *root = dg_json_new_object();
    int64_t used, limit;
    dg_gate_usage(app->auth, x, &used, &limit);
    dg_json_set_int(root, "characters", used);
    if (limit > 0)
        dg_json_set_int(root, "limit", limit);
    dg_reply_json_take(&r, 200, root);
    dg_http_reply_take(x, &r);
}
