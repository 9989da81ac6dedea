/* POST /v1/detect: which language each text is in. */
#include "server/api/answer.h"
#include "server/api/endpoints.h"
#include "server/http/reply.h"
#include "server/models/models.h"
#include "text/detect/detect.h"

static struct dg_json *describe(const char *const *languages, size_t n, const struct dg_text *text)
{
    struct dg_json *o = dg_json_new_object();
    struct dg_detected d;
    dg_detect(languages, n, text->s, text->len, &d);
    dg_json_set_string(o, "language", languages[d.language]);
    dg_json_set_int(o, "confidence", d.confidence);
    dg_json_set_take(
        o, "flags", dg_answer_flags(d.doubtful ? DG_FLAG_SOURCE_LANGUAGE_DOUBTFUL : 0));
    return o;
}

/* It needs no model and waits for nothing. */
static int write(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    struct dg_model_languages sources;
    struct dg_json *root = dg_json_new_object(), *list = dg_json_new_array();
    const struct dg_usage usage = {.source_characters = item->source_characters};
    (void)arena;
    (void)err;
    dg_models_languages(item->request->app->models, DG_SOURCES, &sources);
    for (size_t i = 0; i < item->n_texts; i++)
        dg_json_append_take(list, describe(sources.codes, sources.n, &item->texts[i]));
    dg_json_set_take(root, "detections", list);
    dg_json_set_take(root, "usage", dg_usage_write(&usage));
    dg_answer_put_take(root, &item->answer);
    return DG_OK;
}

const struct dg_endpoint dg_endpoint_detect = {
    .fields = {DG_BODY_TEXTS},
    .kind = {.at_once = true, .write = write, .fail = dg_reply_failure},
};
