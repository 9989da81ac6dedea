#include "server/api/v1.h"

#include "server/api/answer.h"
#include "server/api/api.h"
#include "server/request/call.h"
#include "server/request/call_stream.h"
#include "server/access/gate.h"
#include "server/request/pivot.h"
#include "server/http/reply.h"
#include "server/api/request.h"
#include "server/models/models.h"

#include <stdlib.h>
#include <string.h>

void dg_api_v1_models(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {0};
    struct dg_json *root = dg_json_new_object();
    dg_json_set_take(root, "models", dg_models_describe(app->models));
    dg_reply_json_take(&r, 200, root);
    dg_http_reply_take(x, &r);
}

/* ---- POST /v1/translate ---- */

static int answer_translate(struct dg_call *c, struct dg_json **body, struct dg_error *err)
{
    struct dg_json *root = dg_json_new_object(), *list = dg_json_new_array();
    struct dg_usage usage = {0};
    int rc = DG_OK;
    for (size_t i = 0; i < c->n_jobs && rc == DG_OK; i++) {
        struct dg_answers a;
        rc = dg_job_finish(c->jobs[i], &a, err);
        if (rc == DG_OK && c->pivot)
            rc = dg_pivot_answers(c, i, &a, err);
        if (rc != DG_OK)
            break;
        struct dg_json *o = dg_answer_translation(c->model, c->pair, &c->options, &a);
        if (c->pivot)
            dg_json_set_string(o, "pivot", dg_pivot_language(c->pivot));
        dg_json_append_take(list, o);
        dg_answer_count(c->app->metrics, c->pair, &a);
        dg_usage_add(&usage, &a);
    }
    dg_json_set_take(root, "translations", list);
    dg_json_set_take(root, "usage", dg_usage_write(&usage));
    if (rc != DG_OK) {
        dg_json_free(root);
        return rc;
    }
    *body = root;
    return DG_OK;
}

/* Plan the texts for the first model, or the only one. */
static int plan_texts(struct dg_call *c, const struct dg_v1_translate *r, const struct dg_way *way,
    struct dg_error *err)
{
    struct dg_translate_options o;
    struct dg_request_options first = r->options;
    if (c->pivot)
        first = dg_pivot_first_options(&r->options);
    int rc = dg_request_options_plan(&first, c->model, way->hops[0].pair, &o, err);
    for (size_t i = 0; i < r->text.n && rc == DG_OK; i++)
        rc = dg_job_plan(
            c->model->translator, r->text.list[i].s, r->text.list[i].len, &o, &c->jobs[i], err);
    return rc;
}

/* A call with its texts planned; on failure nothing is left of it. */
static int plan_translate(struct dg_app *app, struct dg_http_exchange *x,
    const struct dg_v1_translate *r, struct dg_call **out, struct dg_error *err)
{
    struct dg_way way;
    struct dg_call *c = NULL;
    int rc = dg_models_way(app->models, r->source, r->target, true, &way, err);
    if (rc != DG_OK)
        return rc;
    size_t last = way.n - 1;
    dg_served_hold(way.hops[0].model);
    rc = dg_call_open(app, x, way.hops[0].model, r->text.n, &c, err);
    if (rc == DG_OK) {
        c->pair[0] = way.hops[0].pair[0];
        c->pair[1] = way.hops[last].pair[1];
        c->options = r->options;
        c->priority = r->priority;
        c->answer = answer_translate;
        if (last > 0)
            rc = dg_pivot_open_take(c, &way, err);
    }
    if (rc == DG_OK)
        rc = plan_texts(c, r, &way, err);
    if (rc == DG_OK)
        rc = dg_api_check_sentences(app, c->jobs, c->n_jobs, "text", err);
    if (rc == DG_OK && r->stream)
        rc = dg_call_stream_open(c, err);
    dg_way_release(&way);
    if (rc != DG_OK) {
        dg_call_free(c);
        return rc;
    }
    *out = c;
    return DG_OK;
}

void dg_api_v1_translate(struct dg_app *app, struct dg_http_exchange *x)
{
    const struct dg_http_request *request = dg_http_request(x);
    struct dg_request_limits limits = dg_api_limits(app);
    struct dg_v1_translate r;
    struct dg_call *c = NULL;
    struct dg_error err = {0};
    if (!dg_api_accept(app, x))
        return;
    int rc = dg_v1_translate_read(request->body, request->body_len, &limits, &r, &err);
    int64_t timeout_ms = r.timeout_ms;
    if (rc == DG_OK)
        rc = dg_api_timeout(x, limits.timeout_ms, &timeout_ms, &err);
    if (rc == DG_OK)
        rc = dg_gate_use(app->auth, x, dg_request_all_characters(&r.text), &err);
    if (rc == DG_OK)
        rc = plan_translate(app, x, &r, &c, &err);
    dg_v1_translate_free(&r);
    if (rc == DG_OK)
        dg_call_submit_take(c, timeout_ms);
    else
        dg_api_fail(x, &err);
}

/* ---- POST /v1/score ---- */

static struct dg_json *describe_scored(const struct dg_scored *s)
{
    struct dg_json *o = dg_json_new_object(), *tokens = dg_json_new_array();
    for (size_t i = 0; i < s->n; i++) {
        struct dg_json *token = dg_json_new_object();
        dg_json_set_string(token, "piece", s->pieces[i]);
        dg_json_set_real(token, "logprob", (double)s->logprob[i]);
        dg_json_append_take(tokens, token);
    }
    dg_json_set_real(o, "score", s->total);
    dg_json_set_take(o, "tokens", tokens);
    return o;
}

static int answer_score(struct dg_call *c, struct dg_json **body, struct dg_error *err)
{
    struct dg_json *root = dg_json_new_object(), *list = dg_json_new_array();
    for (size_t i = 0; i < c->n_jobs; i++) {
        struct dg_scored s;
        int rc = dg_job_finish_score(c->jobs[i], &s, err);
        if (rc != DG_OK) {
            dg_json_free(list);
            dg_json_free(root);
            return rc;
        }
        dg_json_append_take(list, describe_scored(&s));
    }
    dg_json_set_take(root, "scores", list);
    *body = root;
    return DG_OK;
}

/* The planner speaks of its own arguments; the request calls the languages source_lang and
 * target_lang. */
static int find_for_score(struct dg_app *app, const struct dg_v1_score *r, struct dg_served **model,
    const char *pair[2], struct dg_error *err)
{
    struct dg_error why = {0};
    int rc = dg_models_find(app->models, r->source_lang, r->target_lang, model, pair, &why);
    if (rc == DG_OK)
        return rc;
    return dg_error_field(err, rc, strcmp(why.field, "target") == 0 ? "target_lang" : "source_lang",
        "%s", why.message);
}

static int plan_score(struct dg_app *app, struct dg_http_exchange *x, const struct dg_v1_score *r,
    struct dg_call **out, struct dg_error *err)
{
    struct dg_served *model;
    struct dg_call *c = NULL;
    const char *pair[2];
    int rc = find_for_score(app, r, &model, pair, err);
    if (rc == DG_OK)
        rc = dg_call_open(app, x, model, r->source.n, &c, err);
    if (rc != DG_OK)
        return rc;
    c->pair[0] = pair[0];
    c->pair[1] = pair[1];
    c->answer = answer_score;
    struct dg_translate_options o = {.source = pair[0], .target = pair[1], .search.alpha = -1};
    for (size_t i = 0; i < r->source.n && rc == DG_OK; i++)
        rc = dg_job_plan_score(model->translator, r->source.list[i].s, r->source.list[i].len,
            r->target.list[i].s, r->target.list[i].len, &o, &c->jobs[i], err);
    if (rc != DG_OK) {
        dg_call_free(c);
        return rc;
    }
    *out = c;
    return DG_OK;
}

void dg_api_v1_score(struct dg_app *app, struct dg_http_exchange *x)
{
    const struct dg_http_request *request = dg_http_request(x);
    struct dg_request_limits limits = dg_api_limits(app);
    struct dg_v1_score r;
    struct dg_call *c = NULL;
    struct dg_error err = {0};
    if (!dg_api_accept(app, x))
        return;
    int rc = dg_v1_score_read(request->body, request->body_len, &limits, &r, &err);
    int64_t timeout_ms = r.timeout_ms;
    if (rc == DG_OK)
        rc = dg_api_timeout(x, limits.timeout_ms, &timeout_ms, &err);
    if (rc == DG_OK)
        /* Both count for the key's day, as they do for --max-characters. */
        rc = dg_gate_use(app->auth, x,
            dg_request_all_characters(&r.source) + dg_request_all_characters(&r.target), &err);
    if (rc == DG_OK)
        rc = plan_score(app, x, &r, &c, &err);
    dg_v1_score_free(&r);
    if (rc == DG_OK)
        dg_call_submit_take(c, timeout_ms);
    else
        dg_api_fail(x, &err);
}
