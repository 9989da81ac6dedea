#include "server/api/server_glossaries.h"

#include "server/glossaries/glossaries.h"
#include "server/http/reply.h"

static struct dg_json *describe(const struct dg_glossary_set *s)
{
    struct dg_json *o = dg_json_new_object(), *all = dg_json_new_array();
    const char *languages[2];
    size_t entries;
    for (size_t i = 0; dg_glossary_set_languages(s, i, languages, &entries); i++) {
        struct dg_json *d = dg_json_new_object();
        dg_json_set_string(d, "source", languages[0]);
        dg_json_set_string(d, "target", languages[1]);
        dg_json_set_int(d, "entries", (int64_t)entries);
        dg_json_append_take(all, d);
    }
    dg_json_set_string(o, "name", dg_glossary_set_name(s));
    dg_json_set_take(o, "dictionaries", all);
    return o;
}

struct dg_json *dg_server_glossaries(const struct dg_app *app)
{
    struct dg_json *list = dg_json_new_array();
    struct dg_glossary_set *s;
    for (size_t i = 0; (s = dg_glossaries_at(app->glossaries, i)); i++) {
        dg_json_append_take(list, describe(s));
        dg_glossary_set_unref(s);
    }
    return list;
}

bool dg_server_glossaries_reply(const struct dg_app *app, struct dg_http_exchange *x)
{
    if (app->config.glossaries[0] == '\0')
        return false;
    struct dg_json *root = dg_json_new_object();
    dg_json_set_take(root, "glossaries", dg_json_new_array());
    dg_json_set_take(root, "server", dg_server_glossaries(app));
    dg_reply_with_take(x, 200, root);
    return true;
}
