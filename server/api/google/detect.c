/* GET and POST /language/translate/v2/detect. */
#include "server/api/answer.h"
#include "server/api/dialect_request.h"
#include "server/api/google/google.h"
#include "text/detect/detect.h"

static int read(struct dg_request *r, const struct dg_limits *limits, struct dg_error *err)
{
    struct dg_body b;
    dg_body_init(&b, r, limits);
    int rc = dg_google_parameters_read(r, err);
    if (rc == DG_OK)
        rc = dg_dialect_request_texts(&b, "q", err);
    if (rc == DG_OK)
        rc = dg_request_make_items(r, 1, err);
    if (rc == DG_OK)
        dg_body_put(&b, 0, b.n_texts, r->items);
    return rc;
}

/* Writes a list for each text, which holds only the most likely language. */
static int write(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    struct dg_model_languages sources;
    struct dg_json *list = dg_json_new_array();
    (void)arena;
    (void)err;
    dg_models_languages(item->request->app->models, DG_SOURCES, &sources);
    for (size_t i = 0; i < item->n_texts; i++) {
        struct dg_json *each = dg_json_new_array(), *o = dg_json_new_object();
        struct dg_detected d;
        dg_detect(sources.codes, sources.n, item->texts[i].s, item->texts[i].len, &d);
        dg_json_set_string(o, "language", dg_dialect_code(sources.codes[d.language]));
        dg_json_set_bool(o, "isReliable", false);
        dg_json_set_real(o, "confidence", d.confidence / 100.0);
        dg_json_append_take(each, o);
        dg_json_append_take(list, each);
    }
    dg_answer_put_take(dg_google_data_take("detections", list), &item->answer);
    return DG_OK;
}

const struct dg_endpoint dg_google_detect = {
    .read = read,
    .kind = {.at_once = true, .write = write, .fail = dg_google_fail},
};
