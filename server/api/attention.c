/* POST /v1/attention: the attention weights of one sentence and its translation, computed beside
 * the workers at low priority. */
#include "server/api/answer.h"
#include "server/api/endpoints.h"
#include "server/http/reply.h"
#include "translate/picture/attention.h"

#include <string.h>

#define MAX_TOKENS 128 /* per side: all heads of 6 layers are then 10 MB of JSON */

/* The endpoint's own options. */
struct wanted {
    enum dg_attention_kind kind;
    /* 0: all */
    int64_t layer;
};

static int take(struct dg_request *r, const struct dg_body *b, struct dg_error *err)
{
    struct wanted *w = dg_arena_alloc(&r->arena, sizeof *w);
    int rc = w ? dg_request_make_items(r, 1, err)
               : dg_error_set(err, DG_ENOMEM, "no memory for a request");
    if (rc != DG_OK)
        return rc;
    *w = (struct wanted){(enum dg_attention_kind)b->kind, b->layer};
    dg_body_put(b, 0, 1, r->items);
    r->items->extra = w;
    return DG_OK;
}

static int check(const struct dg_item *item, struct dg_error *err)
{
    const struct wanted *w = item->extra;
    const struct dg_translator *t = dg_item_last_hop(item)->model->translator;
    const struct dg_config *c = dg_model_config(dg_translator_model(t));
    uint32_t layers = w->kind == DG_ATTENTION_ENCODER ? c->enc_layers : c->dec_layers;
    if (w->layer > layers)
        return dg_error_field(err, DG_EINVAL, "layer", "layer is %lld, the model has %u",
            (long long)w->layer, layers);
    return dg_attention_check(c, w->kind, err);
}

/* ---- the work, on the low-priority thread ---- */

/* Written directly, without a JSON value for each number: all tables together have about a
 * million. */
static void write_head(struct dg_buffer *b, const float *w, uint32_t rows, uint32_t columns)
{
    for (uint32_t r = 0; r < rows; r++) {
        dg_buffer_adds(b, r ? ",[" : "[");
        for (uint32_t c = 0; c < columns; c++)
            dg_buffer_addf(b, "%s%.6g", c ? "," : "", (double)w[(size_t)r * columns + c]);
        dg_buffer_adds(b, "]");
    }
}

static void write_tokens(
    struct dg_buffer *b, const char *name, const char *const *tokens, uint32_t n)
{
    struct dg_json *list = dg_json_new_array();
    for (uint32_t i = 0; i < n; i++)
        dg_json_append_take(list, dg_json_new_string(tokens[i], strlen(tokens[i])));
    dg_buffer_addf(b, "\"%s\":", name);
    dg_answer_put_take(list, b);
    dg_buffer_adds(b, ",");
}

static void write_answer(struct dg_item *item, const struct dg_attention_map *m)
{
    const struct wanted *wanted = item->extra;
    struct dg_buffer *b = &item->answer;
    uint32_t first = wanted->layer ? (uint32_t)wanted->layer - 1 : 0, rows, columns;
    uint32_t end = wanted->layer ? first + 1 : dg_attention_layers(m, wanted->kind);
    struct dg_usage usage = {item->source_characters, m->trace.S, m->trace.T - m->n_lead};
    dg_buffer_adds(b, "{");
    write_tokens(b, "source_tokens", m->source, m->trace.S);
    write_tokens(b, "target_tokens", m->target, m->trace.T);
    dg_buffer_adds(b, "\"layers\":[");
    for (uint32_t l = first; l < end; l++) {
        dg_buffer_adds(b, l > first ? ",{\"heads\":[" : "{\"heads\":[");
        for (uint32_t h = 0; h < dg_attention_heads(m, wanted->kind); h++) {
            const float *w = dg_attention_weights(m, wanted->kind, l, h, &rows, &columns);
            dg_buffer_adds(b, h ? ",[" : "[");
            write_head(b, w, rows, columns);
            dg_buffer_adds(b, "]");
        }
        dg_buffer_adds(b, "]}");
    }
    dg_buffer_adds(b, "],\"usage\":");
    dg_answer_put_take(dg_usage_write(&usage), b);
    dg_buffer_adds(b, "}");
}

static int work(struct dg_item *item, struct dg_error *err)
{
    const struct dg_hop *hop = dg_item_last_hop(item);
    struct dg_backend *be = NULL;
    struct dg_attention_map map = {0};
    struct dg_translate_options o = {.source = hop->pair[0],
        .target = hop->pair[1],
        .search = item->options.search,
        .max_source = MAX_TOKENS};
    int rc = dg_served_aside(hop->model, &be, err);
    if (rc == DG_OK)
        rc = dg_attention_map_open(hop->model->translator, be, item->texts->s,
            item->given ? item->given->s : NULL, &o, &map, err);
    if (rc == DG_OK)
        rc = be->ops->status(be, err); /* results of a failed device are worthless */
    if (rc == DG_OK)
        write_answer(item, &map);
    if (rc == DG_OK && item->answer.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for attention weights");
    dg_attention_map_close(&map);
    return rc;
}

const struct dg_endpoint dg_endpoint_attention = {
    .fields = {DG_BODY_TEXT, DG_BODY_GIVEN_ONE, DG_BODY_LANGUAGES, DG_BODY_KIND, DG_BODY_LAYER,
        DG_BODY_BEAM_SIZE, DG_BODY_TIMEOUT_MS},
    .take = take,
    .kind = {.check = check, .work = work, .fail = dg_reply_failure},
};
