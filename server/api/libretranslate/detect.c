/* POST /detect. */
#include "server/api/answer.h"
#include "server/api/libretranslate/libretranslate.h"
#include "server/api/libretranslate/parameters.h"
#include "text/detect/detect.h"
#include "text/utf8.h"

#include <string.h>

/* Joins q into one text: a list counts as being in one language. */
static int read_q(const struct dg_json *q, struct dg_buffer *out, struct dg_error *err)
{
    const bool array = dg_json_typeof(q) == DG_JSON_ARRAY;
    const size_t n_texts = array ? dg_json_length(q) : 1;
    for (size_t i = 0; i < n_texts; i++) {
        size_t n;
        const char *s = dg_json_string(array ? dg_json_at(q, i) : q, &n);
        if (!s && q && (array || dg_json_typeof(q) != DG_JSON_NULL))
            return dg_error_field(
                err, DG_EINVAL, "q", "Invalid request: q must be a string or an array of strings");
        if (s && memchr(s, '\0', n))
            return dg_error_field(
                err, DG_EINVAL, "q", "Invalid request: q has the character U+0000");
        if (s && out->len > 0)
            dg_buffer_adds(out, "\n");
        if (s)
            dg_buffer_add(out, s, n);
    }
    if (out->failed)
        return dg_error_set(err, DG_ENOMEM, "no memory for a text");
    return out->len > 0 || (array && n_texts > 0)
               ? DG_OK
               : dg_error_field(err, DG_EINVAL, "q", "Invalid request: missing q parameter");
}

static int read(struct dg_request *r, const struct dg_limits *limits, struct dg_error *err)
{
    struct dg_buffer text;
    bool form;
    dg_buffer_init(&text);
    int rc = dg_lt_read(r, &form, err);
    if (rc == DG_OK)
        rc = read_q(form ? dg_parameter(r->body, "q") : dg_json_get(r->body, "q"), &text, err);
    if (rc == DG_OK)
        rc = dg_lt_check_size(dg_utf8_count(text.data, text.len), limits->characters, err);
    if (rc == DG_OK)
        rc = dg_request_make_items(r, 1, err);
    if (rc == DG_OK) {
        struct dg_item *item = r->items;
        item->texts = dg_arena_array(&r->arena, 1, sizeof *item->texts);
        item->n_texts = item->texts ? 1 : 0;
        if (item->texts)
            *item->texts =
                (struct dg_text){dg_arena_strndup(&r->arena, text.data, text.len), text.len};
        if (!item->texts || !item->texts->s)
            rc = dg_error_set(err, DG_ENOMEM, "no memory for a text");
    }
    dg_buffer_deinit(&text);
    return rc;
}

static int write(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    struct dg_model_languages sources;
    struct dg_detected d;
    (void)arena;
    (void)err;
    dg_models_languages(item->request->app->models, DG_SOURCES, &sources);
    dg_detect(sources.codes, sources.n, item->texts->s, item->texts->len, &d);
    struct dg_json *list = dg_json_new_array(), *o = dg_json_new_object();
    dg_json_set_int(o, "confidence", d.confidence);
    dg_json_set_string(o, "language", sources.codes[d.language]);
    dg_json_append_take(list, o);
    dg_answer_put_take(list, &item->answer);
    return DG_OK;
}

const struct dg_endpoint dg_libretranslate_detect = {
    .read = read,
    .kind = {.at_once = true, .write = write, .fail = dg_libretranslate_fail},
};
