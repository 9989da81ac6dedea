/* GET and POST /language/translate/v2/languages: the served languages and, with "target", their
 * names in that language. */
#include "server/api/dialect_request.h"
#include "server/api/google/google.h"
#include "server/api/parameters.h"
#include "server/http/reply.h"
#include "text/language_name.h"

static void add_language(struct dg_json *list, const char *code, const char *reader)
{
    char name[DG_LANGUAGE_NAME];
    struct dg_json *o = dg_json_new_object();
    dg_json_set_string(o, "language", dg_dialect_code(code));
    if (reader) {
        dg_language_name_in(code, reader, name);
        dg_json_set_string(o, "name", name);
    }
    dg_json_append_take(list, o);
}

void dg_google_languages(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_model_languages all;
    struct dg_http_reply r = {0};
    struct dg_error err = {0};
    struct dg_json *parameters = NULL, *list = dg_json_new_array();
    int rc = dg_google_parameters(x, &parameters, &err);
    const char *reader = dg_parameter_string(parameters, "target");
    if (rc == DG_OK && reader && (!*reader || !dg_language_known(reader)))
        rc = dg_error_field(&err, DG_EINVAL, "target",
            "target is \"%.40s\", expected the code of a language", reader);
    dg_models_languages(app->models, DG_SOURCES | DG_TARGETS, &all);
    for (size_t i = 0; i < all.n; i++)
        add_language(list, all.codes[i], reader);
    if (rc == DG_OK) {
        dg_reply_json_take(&r, 200, dg_google_data_take("languages", list));
    } else {
        dg_json_free(list);
        dg_google_fail(&r, &err);
    }
    dg_json_free(parameters);
    dg_http_reply_take(x, &r);
}
