/* DeepLX: {"text","source_lang","target_lang","tag_handling"} → {"code","id","data","alternatives",
 * "source_lang","target_lang","method"}. Its own path /translate is LibreTranslate's here. */
#include "base/clock.h"
#include "server/api/answer.h"
#include "server/api/deepl/deepl.h"
#include "server/api/dialect_request.h"
#include "server/api/extensions/extensions.h"
#include "server/api/mixed.h"
#include "server/api/parameters.h"

/* An id that differs from the next answer's. */
static int64_t next_id(void)
{
    return (int64_t)(dg_clock_ns() / 1000 % 10000000000);
}

static void reply_take(
    const struct dg_mixed *m, struct dg_json *translations, struct dg_buffer *out)
{
    struct dg_json *root = dg_json_new_object();
    char source[DG_LANGUAGE_MAX], target[DG_LANGUAGE_MAX];
    dg_deepl_code(m->texts[0].source, source);
    dg_deepl_code(m->extra, target);
    dg_json_set_int(root, "code", 200);
    dg_json_set_int(root, "id", next_id());
    dg_json_set_take(root, "data", dg_mixed_copy_text(dg_json_at(translations, 0)));
    dg_json_set_take(root, "alternatives", dg_json_new_array());
    dg_json_set_string(root, "source_lang", source);
    dg_json_set_string(root, "target_lang", target);
    dg_json_set_string(root, "method", "Free");
    dg_json_free(translations);
    dg_answer_put_take(root, out);
}

static int read_text(struct dg_body *b, struct dg_error *err)
{
    const struct dg_json *v = dg_json_get(b->request->body, "text");
    size_t n = 0;
    const bool text = dg_json_string(v, &n) != NULL;
    if (dg_json_typeof(v) == DG_JSON_NULL || (text && n == 0))
        return dg_error_field(err, DG_ENOTFOUND, "text", "No text to translate");
    return text ? DG_OK
                : dg_error_field(err, DG_EINVAL, "text", "text must be a string, not %s",
                      dg_json_type_name(dg_json_typeof(v)));
}

static int read_tags(struct dg_body *b, struct dg_error *err)
{
    static const char *const kinds[] = {"html", "xml", "off", NULL};
    static const enum dg_format formats[] = {DG_FORMAT_HTML, DG_FORMAT_XML, DG_FORMAT_TEXT};
    const int kind =
        dg_dialect_request_word(b->request->body, "tag_handling", kinds, "html or xml", NULL);
    if (kind == -2)
        return dg_error_field(err, DG_EINVAL, "tag_handling",
            "Invalid tag_handling value. Allowed values are 'html' and 'xml'.");
    b->options.format = kind < 0 ? DG_FORMAT_TEXT : formats[kind];
    return DG_OK;
}

static int read(struct dg_request *r, const struct dg_limits *limits, struct dg_error *err)
{
    static const struct dg_dialect_request names = {"text", "source_lang", "target_lang"};
    struct dg_body b;
    dg_body_init(&b, r, limits);
    int rc = dg_parameters_read_request(r, NULL, err);
    if (rc == DG_OK)
        rc = read_text(&b, err);
    if (rc == DG_OK)
        rc = dg_dialect_request_read(&b, &names, err);
    if (rc == DG_OK)
        rc = read_tags(&b, err);
    b.extra = b.target;
    return rc == DG_OK ? dg_mixed_make(r, reply_take, &b, 0, err) : rc;
}

const struct dg_endpoint dg_deeplx_translate = {
    .read = read,
    .kind = {DG_MIXED, .fail = dg_deeplx_fail},
};
