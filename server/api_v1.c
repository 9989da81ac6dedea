#include "server/api_v1.h"

#include "server/call.h"
#include "server/reply.h"
#include "server/request.h"

#include <string.h>
#include <strings.h>

void dg_api_v1_models(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {0};
    struct dg_json *root = dg_json_new_object();
    dg_json_set_take(root, "models", dg_models_describe(app->models));
    dg_reply_json_take(&r, 200, root);
    dg_http_reply_take(x, &r);
}

static void reply_failure(struct dg_http_exchange *x, const struct dg_error *err)
{
    struct dg_http_reply r = {0};
    dg_reply_failure(&r, err);
    dg_http_reply_take(x, &r);
}

/* "application/json", with or without parameters. */
static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    if (!type || strncasecmp(type, json, sizeof json - 1) != 0)
        return false;
    char next = type[sizeof json - 1];
    return next == '\0' || next == ';' || next == ' ' || next == '\t';
}

/* What every POST here needs first; false: it was refused. */
static bool accept_post(const struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {0};
    if (!is_json(dg_http_header(x, "Content-Type")))
        dg_reply_error(&r, 415, "unsupported_media_type", "Content-Type",
            "Content-Type must be application/json");
    else if (atomic_load(&app->state) == DG_APP_STARTING)
        dg_reply_error(&r, 503, "starting", NULL, "the models are being loaded");
    else if (dg_http_gone(x)) /* before any work is done for it */
        dg_reply_client_gone(&r);
    else
        return true;
    dg_http_reply_take(x, &r);
    return false;
}

static struct dg_request_limits limits_of(const struct dg_app *app)
{
    return (struct dg_request_limits){
        .characters = (size_t)app->config.max_characters,
        .texts = (size_t)app->config.max_texts,
        .beam = (uint32_t)app->config.max_beam,
        .timeout_ms = app->config.request_timeout_ms,
    };
}

/* The body's timeout_ms stands; else the header; else 0. */
static int choose_timeout(const struct dg_app *app, const struct dg_http_exchange *x,
    int64_t *timeout_ms, struct dg_error *err)
{
    const char *header = dg_http_header(x, "X-Request-Timeout");
    if (*timeout_ms > 0 || !header)
        return DG_OK;
    return dg_request_timeout_read(header, app->config.request_timeout_ms, timeout_ms, err);
}

/* ---- POST /v1/translate ---- */

static struct dg_json *span(size_t begin, size_t end)
{
    struct dg_json *a = dg_json_new_array();
    dg_json_append_take(a, dg_json_new_int((int64_t)begin));
    dg_json_append_take(a, dg_json_new_int((int64_t)end));
    return a;
}

static struct dg_json *describe_sentence(const struct dg_answer_sentence *s)
{
    struct dg_json *o = dg_json_new_object(), *flags = dg_json_new_array();
    for (unsigned bit = 1; bit != 0 && bit <= s->flags; bit <<= 1) {
        if (s->flags & bit) {
            const char *name = dg_flag_name(bit);
            dg_json_append_take(flags, dg_json_new_string(name, strlen(name)));
        }
    }
    dg_json_set_take(o, "source", span(s->source_begin, s->source_end));
    dg_json_set_take(o, "target", span(s->target_begin, s->target_end));
    dg_json_set_real(o, "score", s->score);
    dg_json_set_take(o, "flags", flags);
    return o;
}

static struct dg_json *describe_answers(const struct dg_call *c, const struct dg_answers *a)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_take(o, "text", dg_json_new_string(a->best[0].text, a->best[0].len));
    dg_json_set_string(o, "source", c->pair[0]);
    dg_json_set_string(o, "target", c->pair[1]);
    dg_json_set_string(o, "model", dg_bundle_name(dg_translator_bundle(c->model->translator)));
    if (c->scores)
        dg_json_set_real(o, "score", a->best[0].score);
    if (a->n_best > 1) {
        struct dg_json *list = dg_json_new_array();
        for (size_t i = 0; i < a->n_best; i++) {
            struct dg_json *one = dg_json_new_object();
            dg_json_set_take(one, "text", dg_json_new_string(a->best[i].text, a->best[i].len));
            dg_json_set_real(one, "score", a->best[i].score);
            dg_json_append_take(list, one);
        }
        dg_json_set_take(o, "n_best", list);
    }
    struct dg_json *sentences = dg_json_new_array();
    for (size_t i = 0; i < a->n_sentences; i++)
        dg_json_append_take(sentences, describe_sentence(&a->sentences[i]));
    dg_json_set_take(o, "sentences", sentences);
    return o;
}

static void count_answers(const struct dg_call *c, const struct dg_answers *a)
{
    static const struct {
        unsigned flag;
        enum dg_counter counter;
    } flags[] = {{DG_FLAG_SPLIT, DG_COUNT_SPLIT}, {DG_FLAG_LENGTH_LIMITED, DG_COUNT_LENGTH_LIMITED},
        {DG_FLAG_UNK_COPIED, DG_COUNT_UNKNOWN}};
    struct dg_metrics *m = c->app->metrics;
    unsigned pair = dg_metrics_pair(m, c->pair[0], c->pair[1]);
    dg_metrics_add(m, DG_COUNT_SENTENCES, pair, a->n_sentences);
    dg_metrics_add(m, DG_COUNT_CHARACTERS, pair, a->source_characters);
    dg_metrics_add(m, DG_COUNT_SOURCE_TOKENS, 0, a->source_tokens);
    dg_metrics_add(m, DG_COUNT_TARGET_TOKENS, 0, a->target_tokens);
    for (size_t i = 0; i < a->n_sentences; i++)
        for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
            dg_metrics_add(m, flags[f].counter, 0, (a->sentences[i].flags & flags[f].flag) != 0);
}

static int answer_translate(struct dg_call *c, struct dg_json **body, struct dg_error *err)
{
    size_t characters = 0, source_tokens = 0, target_tokens = 0;
    struct dg_json *root = dg_json_new_object(), *list = dg_json_new_array(),
                   *usage = dg_json_new_object();
    int rc = DG_OK;
    for (size_t i = 0; i < c->n_jobs && rc == DG_OK; i++) {
        struct dg_answers a;
        rc = dg_job_finish(c->jobs[i], &a, err);
        if (rc != DG_OK)
            break;
        dg_json_append_take(list, describe_answers(c, &a));
        count_answers(c, &a);
        characters += a.source_characters;
        source_tokens += a.source_tokens;
        target_tokens += a.target_tokens;
    }
    dg_json_set_int(usage, "source_characters", (int64_t)characters);
    dg_json_set_int(usage, "source_tokens", (int64_t)source_tokens);
    dg_json_set_int(usage, "target_tokens", (int64_t)target_tokens);
    dg_json_set_take(root, "translations", list);
    dg_json_set_take(root, "usage", usage);
    if (rc != DG_OK) {
        dg_json_free(root);
        return rc;
    }
    *body = root;
    return DG_OK;
}

static int check_n_best(
    const struct dg_served *model, const struct dg_search *s, struct dg_error *err)
{
    uint32_t beam =
        s->beam > 0 ? s->beam : dg_model_config(dg_translator_model(model->translator))->beam;
    if (s->n_best <= beam)
        return DG_OK;
    return dg_error_field(err, DG_EINVAL, "n_best",
        "n_best is %u, more than beam_size, which is %u", s->n_best, beam);
}

/* A call with its texts planned; on failure nothing is left of it. */
static int plan_translate(struct dg_app *app, struct dg_http_exchange *x,
    const struct dg_v1_translate *r, struct dg_call **out, struct dg_error *err)
{
    struct dg_served *model;
    struct dg_call *c = NULL;
    const char *pair[2];
    int rc = dg_models_find(app->models, r->source, r->target, &model, pair, err);
    if (rc == DG_OK)
        rc = dg_call_open(app, x, model, r->text.n, &c, err);
    if (rc != DG_OK)
        return rc;
    c->pair[0] = pair[0];
    c->pair[1] = pair[1];
    c->scores = r->scores;
    c->answer = answer_translate;
    struct dg_translate_options o = {.source = pair[0], .target = pair[1], .search = r->search};
    rc = check_n_best(model, &r->search, err);
    for (size_t i = 0; i < r->text.n && rc == DG_OK; i++)
        rc = dg_job_plan(
            model->translator, r->text.list[i].s, r->text.list[i].len, &o, &c->jobs[i], err);
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
    struct dg_request_limits limits = limits_of(app);
    struct dg_v1_translate r;
    struct dg_call *c = NULL;
    struct dg_error err = {0};
    if (!accept_post(app, x))
        return;
    int rc = dg_v1_translate_read(request->body, request->body_len, &limits, &r, &err);
    int64_t timeout_ms = r.timeout_ms;
    if (rc == DG_OK)
        rc = choose_timeout(app, x, &timeout_ms, &err);
    if (rc == DG_OK)
        rc = plan_translate(app, x, &r, &c, &err);
    dg_v1_translate_free(&r);
    if (rc == DG_OK)
        dg_call_submit_take(c, timeout_ms);
    else
        reply_failure(x, &err);
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
    struct dg_request_limits limits = limits_of(app);
    struct dg_v1_score r;
    struct dg_call *c = NULL;
    struct dg_error err = {0};
    if (!accept_post(app, x))
        return;
    int rc = dg_v1_score_read(request->body, request->body_len, &limits, &r, &err);
    int64_t timeout_ms = r.timeout_ms;
    if (rc == DG_OK)
        rc = choose_timeout(app, x, &timeout_ms, &err);
    if (rc == DG_OK)
        rc = plan_score(app, x, &r, &c, &err);
    dg_v1_score_free(&r);
    if (rc == DG_OK)
        dg_call_submit_take(c, timeout_ms);
    else
        reply_failure(x, &err);
}
