#include "server/api/alternatives.h"

#include "server/api/api.h"
#include "server/request/call.h"
#include "server/access/gate.h"
#include "server/models/models.h"

#include <string.h>

#define DEFAULT_N 5
#define MAX_N 16

struct body {
    struct dg_json *root;
    struct dg_text text;
    const char *prefix, *source, *target;
    struct dg_search search;
    int64_t n, timeout_ms;
};

static int read_search(const struct dg_json *o, const struct dg_request_limits *limits,
    struct dg_search *out, struct dg_error *err)
{
    int64_t beam = 0;
    double alpha = -1; /* the model's default */
    int rc = dg_json_field_int(o, NULL, "beam_size", 1, limits->beam, &beam, err);
    if (rc == DG_OK)
        rc = dg_json_field_number(o, NULL, "length_penalty", 0, 10, &alpha, err);
    *out = (struct dg_search){.beam = (uint32_t)beam, .alpha = (float)alpha};
    return rc;
}

static int read_body(const char *body, size_t n, const struct dg_request_limits *limits,
    struct body *out, struct dg_error *err)
{
    static const char *const allowed[] = {"text", "target_prefix", "source", "target", "n",
        "beam_size", "length_penalty", "timeout_ms", NULL};
    struct dg_text prefix;
    *out = (struct body){.n = DEFAULT_N};
    int rc = dg_request_object(body, n, allowed, &out->root, err);
    if (rc == DG_OK)
        rc = dg_request_text(out->root, NULL, "text", &out->text, err);
    if (rc == DG_OK)
        rc = dg_request_text(out->root, NULL, "target_prefix", &prefix, err);
    if (rc == DG_OK)
        rc = dg_request_code(out->root, NULL, "source", &out->source, err);
    if (rc == DG_OK)
        rc = dg_request_code(out->root, NULL, "target", &out->target, err);
    if (rc == DG_OK)
        rc = dg_json_field_int(out->root, NULL, "n", 1, MAX_N, &out->n, err);
    if (rc == DG_OK)
        rc = read_search(out->root, limits, &out->search, err);
    if (rc == DG_OK)
        rc = dg_request_timeout(out->root, limits->timeout_ms, &out->timeout_ms, err);
    if (rc != DG_OK)
        return rc;
    out->prefix = prefix.s;
    size_t characters = dg_request_characters(&out->text);
    if (characters > limits->characters)
        return dg_error_field(err, DG_ELIMIT, "text",
            "the request has %zu characters, the limit is %zu", characters, limits->characters);
    return DG_OK;
}

static int answer(struct dg_call *c, struct dg_json **body, struct dg_error *err)
{
    const struct dg_answer *list;
    size_t n;
    int rc = dg_job_finish_alternatives(c->jobs[0], &list, &n, err);
    if (rc != DG_OK)
        return rc;
    struct dg_json *root = dg_json_new_object(), *alternatives = dg_json_new_array();
    for (size_t i = 0; i < n; i++) {
        struct dg_json *one = dg_json_new_object();
        dg_json_set_take(one, "text", dg_json_new_string(list[i].text, list[i].len));
        dg_json_set_real(one, "score", list[i].score);
        dg_json_append_take(alternatives, one);
    }
    dg_json_set_take(root, "alternatives", alternatives);
    *body = root;
    return DG_OK;
}

static int plan(struct dg_app *app, struct dg_http_exchange *x, const struct body *b,
    struct dg_call **out, struct dg_error *err)
{
    struct dg_served *model;
    struct dg_call *c = NULL;
    const char *pair[2];
    int rc = dg_models_find(app->models, b->source, b->target, &model, pair, err);
    if (rc == DG_OK)
        rc = dg_call_open(app, x, model, 1, &c, err);
    if (rc != DG_OK)
        return rc;
    struct dg_translate_options o = {
        .source = pair[0], .target = pair[1], .search = b->search, .prefix = b->prefix};
    c->pair[0] = pair[0];
    c->pair[1] = pair[1];
    c->answer = answer;
    rc = dg_job_plan_alternatives(
        model->translator, b->text.s, b->text.len, (uint32_t)b->n, &o, &c->jobs[0], err);
    if (rc != DG_OK) {
        dg_call_free(c);
        return rc;
    }
    *out = c;
    return DG_OK;
}

void dg_api_alternatives(struct dg_app *app, struct dg_http_exchange *x)
{
    const struct dg_http_request *request = dg_http_request(x);
    struct dg_request_limits limits = dg_api_limits(app);
    struct body b;
    struct dg_call *c = NULL;
    struct dg_error err = {0};
    if (!dg_api_accept(app, x))
        return;
    int rc = read_body(request->body, request->body_len, &limits, &b, &err);
    int64_t timeout_ms = b.timeout_ms;
    if (rc == DG_OK)
        rc = dg_api_timeout(x, limits.timeout_ms, &timeout_ms, &err);
    if (rc == DG_OK)
        rc = dg_gate_use(app->auth, x, (int64_t)dg_request_characters(&b.text), &err);
    if (rc == DG_OK)
        rc = plan(app, x, &b, &c, &err);
    dg_json_free(b.root);
    if (rc == DG_OK)
        dg_call_submit_take(c, timeout_ms);
    else
        dg_api_fail(x, &err);
}
