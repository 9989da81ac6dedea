#include "server/api/attention.h"

#include "base/clock.h"
#include "server/api/api.h"
#include "server/request/aside.h"
#include "server/access/gate.h"
#include "server/http/reply.h"
#include "translate/picture/attention.h"
#include "server/models/models.h"

#include <stdlib.h>
#include <string.h>

/* One request, from its planning on an HTTP thread over the thread aside to its reply. */
struct attention {
    struct dg_app *app;
    struct dg_http_exchange *x;
    struct dg_json *root; /* of the body; the strings below are its */
    struct dg_text source;
    const char *target; /* NULL: the best translation is found first */
    const char *source_lang, *target_lang;
    enum dg_attention_kind kind;
    int64_t layer; /* 0: all */
    struct dg_search search;
    int64_t timeout_ms;
    uint64_t deadline_ns;
    struct dg_served *model; /* held */
    const char *pair[2];
    atomic_bool gone;
    enum dg_outcome outcome;
    struct dg_error err;
    struct dg_buffer body;
};

static void attention_free(void *arg)
{
    struct attention *a = arg;
    if (!a)
        return;
    atomic_fetch_sub(&a->app->attentions, 1);
    dg_served_release(a->model);
    dg_json_free(a->root);
    dg_buffer_deinit(&a->body);
    free(a);
}

static int attention_open(
    struct dg_app *app, struct dg_http_exchange *x, struct attention **out, struct dg_error *err)
{
    struct attention *a = calloc(1, sizeof *a);
    if (!a)
        return dg_error_set(err, DG_ENOMEM, "no memory for a request");
    a->app = app;
    a->x = x;
    if (atomic_fetch_add(&app->attentions, 1) >= DG_ATTENTION_MAX_OPEN) {
        attention_free(a);
        return dg_error_set(err, DG_EAGAIN,
            "%d requests of this kind are open already, or their answers are being read",
            DG_ATTENTION_MAX_OPEN);
    }
    *out = a;
    return DG_OK;
}

/* ---- reading ---- */

static int read_kind(const struct dg_json *root, enum dg_attention_kind *out, struct dg_error *err)
{
    static const char *const names[] = {"encoder", "decoder", "cross"};
    const char *name = "cross";
    int rc = dg_json_field_string(root, NULL, "kind", &name, err);
    for (int i = 0; rc == DG_OK && i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (enum dg_attention_kind)i;
            return DG_OK;
        }
    }
    return rc != DG_OK ? rc
                       : dg_error_field(err, DG_EINVAL, "kind",
                             "kind must be encoder, decoder or cross, not \"%.40s\"", name);
}

static int read_texts(
    struct attention *a, const struct dg_request_limits *limits, struct dg_error *err)
{
    struct dg_text target;
    int rc = dg_request_text(a->root, NULL, "source", &a->source, err);
    if (rc == DG_OK && dg_json_get(a->root, "target")) {
        rc = dg_request_text(a->root, NULL, "target", &target, err);
        a->target = target.s;
    }
    if (rc != DG_OK)
        return rc;
    size_t n = dg_request_characters(&a->source);
    if (n > limits->characters)
        return dg_error_field(err, DG_ELIMIT, "source",
            "the request has %zu characters, the limit is %zu", n, limits->characters);
    return DG_OK;
}

static int read_body(struct attention *a, const struct dg_http_request *request,
    const struct dg_request_limits *limits, struct dg_error *err)
{
    static const char *const allowed[] = {"source", "target", "source_lang", "target_lang", "kind",
        "layer", "beam_size", "timeout_ms", NULL};
    int64_t beam = 0;
    int rc = dg_request_object(request->body, request->body_len, allowed, &a->root, err);
    if (rc == DG_OK)
        rc = read_texts(a, limits, err);
    if (rc == DG_OK)
        rc = dg_request_code(a->root, NULL, "source_lang", &a->source_lang, err);
    if (rc == DG_OK)
        rc = dg_request_code(a->root, NULL, "target_lang", &a->target_lang, err);
    if (rc == DG_OK)
        rc = read_kind(a->root, &a->kind, err);
    if (rc == DG_OK)
        rc = dg_json_field_int(a->root, NULL, "layer", 1, 1000, &a->layer, err);
    if (rc == DG_OK)
        rc = dg_json_field_int(a->root, NULL, "beam_size", 1, limits->beam, &beam, err);
    if (rc == DG_OK)
        rc = dg_request_timeout(a->root, limits->timeout_ms, &a->timeout_ms, err);
    a->search = (struct dg_search){.beam = (uint32_t)beam, .alpha = -1};
    return rc;
}

static int find_model(struct attention *a, struct dg_error *err)
{
    struct dg_error why = {0};
    int rc =
        dg_models_find(a->app->models, a->source_lang, a->target_lang, &a->model, a->pair, &why);
    if (rc != DG_OK)
        return dg_error_field(err, rc,
            strcmp(why.field, "target") == 0 ? "target_lang" : "source_lang", "%s", why.message);
    const struct dg_config *c = dg_model_config(dg_translator_model(a->model->translator));
    uint32_t layers = a->kind == DG_ATTENTION_ENCODER ? c->enc_layers : c->dec_layers;
    if (a->layer > layers)
        return dg_error_field(err, DG_EINVAL, "layer", "layer is %lld, the model has %u there",
            (long long)a->layer, layers);
    return dg_attention_check(c, a->kind, err);
}

/* ---- the work, on the thread aside ---- */

/* A table of a million numbers: written as it comes, without a JSON value each. */
static void write_head(struct dg_buffer *b, const float *w, uint32_t rows, uint32_t columns)
{
    for (uint32_t r = 0; r < rows; r++) {
        dg_buffer_adds(b, r ? ",[" : "[");
        for (uint32_t c = 0; c < columns; c++)
            dg_buffer_addf(b, "%s%.6g", c ? "," : "", (double)w[(size_t)r * columns + c]);
        dg_buffer_adds(b, "]");
    }
}

static void write_pieces(
    struct dg_buffer *b, const char *name, const char *const *pieces, uint32_t n)
{
    struct dg_json *list = dg_json_new_array();
    for (uint32_t i = 0; i < n; i++)
        dg_json_append_take(list, dg_json_new_string(pieces[i], strlen(pieces[i])));
    dg_buffer_addf(b, "\"%s\":", name);
    if (!list || dg_json_write(list, 0, b))
        b->failed = true;
    dg_buffer_adds(b, ",");
    dg_json_free(list);
}

static void write_body(struct attention *a, const struct dg_attention_map *m)
{
    struct dg_buffer *b = &a->body;
    uint32_t first = a->layer ? (uint32_t)a->layer - 1 : 0, rows, columns;
    uint32_t end = a->layer ? first + 1 : dg_attention_layers(m, a->kind);
    dg_buffer_adds(b, "{");
    write_pieces(b, "source_pieces", m->source, m->trace.S);
    write_pieces(b, "target_pieces", m->target, m->trace.T);
    dg_buffer_adds(b, "\"layers\":[");
    for (uint32_t l = first; l < end; l++) {
        dg_buffer_adds(b, l > first ? ",{\"heads\":[" : "{\"heads\":[");
        for (uint32_t h = 0; h < dg_attention_heads(m, a->kind); h++) {
            const float *w = dg_attention_weights(m, a->kind, l, h, &rows, &columns);
            dg_buffer_adds(b, h ? ",[" : "[");
            write_head(b, w, rows, columns);
            dg_buffer_adds(b, "]");
        }
        dg_buffer_adds(b, "]}");
    }
    dg_buffer_adds(b, "]}");
}

static int trace(struct attention *a, struct dg_error *err)
{
    struct dg_backend *be = NULL;
    struct dg_attention_map map = {0};
    struct dg_translate_options o = {.source = a->pair[0],
        .target = a->pair[1],
        .search = a->search,
        .max_source = DG_ATTENTION_MAX_PIECES};
    int rc = dg_served_aside(a->model, &be, err);
    if (rc == DG_OK)
        rc = dg_attention_map_open(a->model->translator, be, a->source.s, a->target, &o, &map, err);
    if (rc == DG_OK)
        rc = be->ops->status(be, err); /* a device that failed gave nothing of worth */
    if (rc == DG_OK)
        write_body(a, &map);
    if (rc == DG_OK && a->body.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for attention weights");
    dg_attention_map_close(&map);
    return rc;
}

static void work(void *arg, bool stopped)
{
    struct attention *a = arg;
    if (stopped)
        a->outcome = DG_TASK_STOPPED;
    else if (atomic_load(&a->gone))
        a->outcome = DG_TASK_GONE;
    else if (dg_clock_ns() >= a->deadline_ns)
        a->outcome = DG_TASK_LATE;
    else if (trace(a, &a->err) != DG_OK)
        a->outcome = DG_TASK_FAILED;
    dg_http_wake(a->x);
}

/* ---- the reply ---- */

static void gone(void *arg)
{
    struct attention *a = arg;
    atomic_store(&a->gone, true);
}

static void finish(void *arg, struct dg_http_exchange *x)
{
    struct attention *a = arg;
    struct dg_http_reply r = {0};
    switch (a->outcome) {
    case DG_TASK_OK:
        r.status = 200;
        r.content_type = "application/json";
        r.body = dg_buffer_take(&a->body, &r.body_len);
        break;
    case DG_TASK_LATE:
        dg_reply_error(&r, 504, "timeout", NULL, "the request's deadline passed");
        break;
    case DG_TASK_GONE: dg_reply_client_gone(&r); break;
    case DG_TASK_STOPPED:
        dg_reply_error(&r, 503, "stopping", NULL, "the server is stopping");
        break;
    case DG_TASK_FAILED: dg_reply_failure(&r, &a->err); break;
    }
    dg_http_reply_header(
        &r, "X-Model-Version", "%s", dg_bundle_version(dg_translator_bundle(a->model->translator)));
    dg_http_reply_take(x, &r);
}

static int submit(struct attention *a, struct dg_error *err)
{
    static const struct dg_http_later later = {
        .finish = finish, .gone = gone, .drop = attention_free};
    int64_t limit = a->timeout_ms > 0 ? a->timeout_ms : a->app->config.request_timeout_ms;
    a->deadline_ns = dg_http_request(a->x)->start_ns + (uint64_t)limit * 1000000;
    dg_http_later(a->x, &later, a); /* from here on it is the exchange's to free */
    dg_http_due(a->x, a->deadline_ns);
    return dg_aside_submit(a->app->aside, work, a, err);
}

void dg_api_attention(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_request_limits limits = dg_api_limits(app);
    struct dg_error err = {0};
    if (!dg_api_accept(app, x))
        return;
    struct attention *a = NULL;
    int rc = attention_open(app, x, &a, &err);
    if (rc == DG_OK)
        rc = read_body(a, dg_http_request(x), &limits, &err);
    if (rc == DG_OK)
        rc = dg_api_timeout(x, limits.timeout_ms, &a->timeout_ms, &err);
    if (rc == DG_OK)
        rc = find_model(a, &err);
    if (rc == DG_OK)
        rc = dg_gate_use(app->auth, x, (int64_t)dg_request_characters(&a->source), &err);
    if (rc != DG_OK)
        attention_free(a);
    else
        rc = submit(a, &err);
    if (rc != DG_OK)
        dg_api_fail(x, &err);
}
