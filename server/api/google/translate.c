/* GET and POST /language/translate/v2. q is HTML unless format says text. */
#include "server/api/answer.h"
#include "server/api/dialect_request.h"
#include "server/api/google/google.h"
#include "server/api/mixed.h"

enum { MODEL = 1 }; /* of dg_mixed.flags: the request names a model */

static void reply_take(
    const struct dg_mixed *m, struct dg_json *translations, struct dg_buffer *out)
{
    struct dg_json *list = dg_json_new_array();
    for (size_t i = 0; i < m->n; i++) {
        const struct dg_json *t = dg_json_at(translations, i);
        struct dg_json *o = dg_json_new_object();
        dg_json_set_take(o, "translatedText", dg_mixed_copy_text(t));
        if (m->detected)
            dg_json_set_string(o, "detectedSourceLanguage", dg_dialect_code(m->texts[i].source));
        if (m->flags & MODEL)
            dg_json_set_string(o, "model", "nmt");
        dg_json_append_take(list, o);
    }
    dg_json_free(translations);
    dg_answer_put_take(dg_google_data_take("translations", list), out);
}

static int read_options(struct dg_body *b, bool *model, struct dg_error *err)
{
    static const char *const formats[] = {"html", "text", NULL}, *const models[] = {
                                                                     "nmt", "base", NULL};
    const struct dg_json *o = b->request->body;
    const int format = dg_dialect_request_word(o, "format", formats, "html or text", err);
    const int named =
        format == -2 ? -2 : dg_dialect_request_word(o, "model", models, "nmt or base", err);
    b->options.format = format == 1 ? DG_FORMAT_TEXT : DG_FORMAT_HTML;
    *model = named >= 0;
    return named == -2 ? DG_EINVAL : DG_OK;
}

static int read(struct dg_request *r, const struct dg_limits *limits, struct dg_error *err)
{
    static const struct dg_dialect_request names = {"q", "source", "target"};
    struct dg_body b;
    bool model = false;
    dg_body_init(&b, r, limits);
    int rc = dg_google_parameters_read(r, err);
    if (rc == DG_OK)
        rc = dg_dialect_request_read(&b, &names, err);
    if (rc == DG_OK)
        rc = read_options(&b, &model, err);
    return rc == DG_OK ? dg_mixed_make(r, reply_take, &b, model ? MODEL : 0, err) : rc;
}

const struct dg_endpoint dg_google_translate = {
    .read = read,
    .kind = {DG_MIXED, .fail = dg_google_fail},
};
