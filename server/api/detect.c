#include "server/api/detect.h"

#include "server/api/answer.h"
#include "server/api/api.h"
#include "server/api/request.h"
#include "server/http/reply.h"
#include "server/models/models.h"
#include "text/detect/detect.h"

#include <stdlib.h>

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

void dg_api_detect(struct dg_app *app, struct dg_http_exchange *x)
{
    const struct dg_http_request *request = dg_http_request(x);
    const struct dg_request_limits limits = dg_api_limits(app);
    struct dg_model_sources sources;
    struct dg_v1_detect r;
    struct dg_error err = {0};
    struct dg_http_reply reply = {0};
    if (!dg_api_accept(app, x))
        return;
    if (dg_v1_detect_read(request->body, request->body_len, &limits, &r, &err) != DG_OK) {
        dg_v1_detect_free(&r);
        dg_api_fail(x, &err);
        return;
    }
    dg_models_sources(app->models, &sources);
    struct dg_json *root = dg_json_new_object(), *list = dg_json_new_array();
    struct dg_usage usage = {0};
    for (size_t i = 0; i < r.text.n; i++) {
        dg_json_append_take(list, describe(sources.codes, sources.n, &r.text.list[i]));
        usage.source_characters += dg_request_characters(&r.text.list[i]);
    }
    dg_json_set_take(root, "detections", list);
    dg_json_set_take(root, "usage", dg_usage_write(&usage));
    dg_v1_detect_free(&r);
    dg_reply_json_take(&reply, 200, root);
    dg_http_reply_take(x, &reply);
}
