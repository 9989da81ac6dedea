#include "server/api/detect.h"

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

static struct dg_json *detect(struct dg_app *app, const struct dg_item *item)
{
    struct dg_model_languages sources;
    struct dg_json *root = dg_json_new_object(), *list = dg_json_new_array();
    const struct dg_usage usage = {.source_characters = item->source_characters};
    dg_models_languages(app->models, DG_SOURCES, &sources);
    for (size_t i = 0; i < item->n_texts; i++)
        dg_json_append_take(list, describe(sources.codes, sources.n, &item->texts[i]));
    dg_json_set_take(root, "detections", list);
    dg_json_set_take(root, "usage", dg_usage_write(&usage));
    return root;
}

/* It is answered at once, without models or the queue: read as the others are, and nothing else. */
void dg_api_detect(struct dg_app *app, struct dg_http_exchange *x)
{
    static const struct dg_endpoint endpoint = {
        .fields = {DG_BODY_TEXTS}, .kind = {.fail = dg_reply_failure}};
    const struct dg_http_request *request = dg_http_request(x);
    const struct dg_limits limits = dg_endpoint_limits(app, false);
    struct dg_request *r = NULL;
    struct dg_error err = {0};
    struct dg_http_reply reply = {0};
    if (!dg_endpoint_accept(app, x))
        return;
    int rc = dg_request_open(app, x, &endpoint.kind, &r, &err);
    if (rc == DG_OK)
        rc = dg_endpoint_read(&endpoint, r, request->body, request->body_len, &limits, &err);
    if (rc == DG_OK)
        dg_reply_json_take(&reply, 200, detect(app, r->items));
    else
        dg_reply_failure(&reply, &err);
    dg_request_free(r);
    dg_http_reply_take(x, &reply);
}
