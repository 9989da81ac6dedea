/* KISS Translator: {"text","from","to"} → {"text","src"}; {"texts":[…],"from","to"} →
 * {"translations":[{"text","src"}]}. */
#include "server/api/answer.h"
#include "server/api/dialect_request.h"
#include "server/api/extensions/extensions.h"
#include "server/api/mixed.h"
#include "server/api/parameters.h"

enum { MANY = 1 }; /* of dg_mixed.flags: the request has "texts" */

static struct dg_json *one_of(
    const struct dg_mixed *m, const struct dg_json *translations, size_t i)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_take(o, "text", dg_mixed_copy_text(dg_json_at(translations, i)));
    dg_json_set_string(o, "src", dg_dialect_code(m->texts[i].source));
    return o;
}

static void reply_take(
    const struct dg_mixed *m, struct dg_json *translations, struct dg_buffer *out)
{
    struct dg_json *root = NULL;
    if (m->flags & MANY) {
        struct dg_json *list = dg_json_new_array();
        for (size_t i = 0; i < m->n; i++)
            dg_json_append_take(list, one_of(m, translations, i));
        root = dg_json_new_object();
        dg_json_set_take(root, "translations", list);
    } else {
        root = one_of(m, translations, 0);
    }
    dg_json_free(translations);
    dg_answer_put_take(root, out);
}

/* Reads "texts" if it is given and not empty, or given alone; else "text". null counts as absent.
 */
static int read_body(struct dg_body *b, bool *many, struct dg_error *err)
{
    const struct dg_json *texts = dg_json_get(b->request->body, "texts");
    const enum dg_json_type list = dg_json_typeof(texts),
                            one = dg_json_typeof(dg_json_get(b->request->body, "text"));
    *many = list != DG_JSON_NULL &&
            (list != DG_JSON_ARRAY || dg_json_length(texts) > 0 || one == DG_JSON_NULL);
    const struct dg_dialect_request names = {*many ? "texts" : "text", "from", "to"};
    if (one != DG_JSON_NULL && one != DG_JSON_STRING)
        return dg_error_field(
            err, DG_EINVAL, "text", "text must be a string, not %s", dg_json_type_name(one));
    return dg_dialect_request_read(b, &names, err);
}

static int read(struct dg_request *r, const struct dg_limits *limits, struct dg_error *err)
{
    struct dg_body b;
    bool many = false;
    dg_body_init(&b, r, limits);
    int rc = dg_parameters_read_request(r, NULL, err);
    if (rc == DG_OK)
        rc = read_body(&b, &many, err);
    return rc == DG_OK ? dg_mixed_make(r, reply_take, &b, many ? MANY : 0, err) : rc;
}

const struct dg_endpoint dg_kiss_translate = {
    .read = read,
    .kind = {DG_MIXED, .fail = dg_extension_fail},
};
