/* Immersive Translate: {"source_lang","target_lang","text_list":[…]} →
 * {"translations":[{"detected_source_lang","text"}]}. */
#include "server/api/answer.h"
#include "server/api/dialect_request.h"
#include "server/api/extensions/extensions.h"
#include "server/api/mixed.h"
#include "server/api/parameters.h"

static void reply_take(
    const struct dg_mixed *m, struct dg_json *translations, struct dg_buffer *out)
{
    struct dg_json *root = dg_json_new_object(), *list = dg_json_new_array();
    for (size_t i = 0; i < m->n; i++) {
        struct dg_json *o = dg_json_new_object();
        dg_json_set_string(o, "detected_source_lang", dg_dialect_code(m->texts[i].source));
        dg_json_set_take(o, "text", dg_mixed_copy_text(dg_json_at(translations, i)));
        dg_json_append_take(list, o);
    }
    dg_json_free(translations);
    dg_json_set_take(root, "translations", list);
    dg_answer_put_take(root, out);
}

static int read(struct dg_request *r, const struct dg_limits *limits, struct dg_error *err)
{
    static const struct dg_dialect_request names = {"text_list", "source_lang", "target_lang"};
    struct dg_body b;
    dg_body_init(&b, r, limits);
    int rc = dg_parameters_read_request(r, NULL, err);
    if (rc == DG_OK)
        rc = dg_dialect_request_read(&b, &names, err);
    return rc == DG_OK ? dg_mixed_make(r, reply_take, &b, 0, err) : rc;
}

const struct dg_endpoint dg_imme_translate = {
    .read = read,
    .kind = {DG_MIXED, .fail = dg_extension_fail},
};
