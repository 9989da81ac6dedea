/* POST /v1/translate: texts of one pair, as one answer or as events. */
#include "server/api/answer.h"
#include "server/api/endpoints.h"
#include "server/http/reply.h"
#include "server/request/stream.h"

static int read(struct dg_request *r, const char *body, size_t n, const struct dg_limits *limits,
    struct dg_error *err)
{
    static const char *const allowed[] = {
        "text", "source", "target", "stream", "priority", "timeout_ms", DG_OPTION_KEYS, NULL};
    bool stream = false;
    int rc = dg_request_make_items(r, 1, err);
    struct dg_item *item = r->items;
    if (rc == DG_OK)
        rc = dg_read_object(body, n, allowed, &r->body, err);
    if (rc == DG_OK)
        rc = dg_read_texts(r->body, "text", limits, &r->arena, &item->texts, &item->n_texts, err);
    if (rc == DG_OK)
        rc = dg_read_languages(r->body, NULL, item, err);
    if (rc == DG_OK)
        rc = dg_read_options(r->body, NULL, limits, &item->options, err);
    if (rc == DG_OK)
        rc = dg_json_field_bool(r->body, NULL, "stream", &stream, err);
    if (rc == DG_OK)
        rc = dg_read_priority(r->body, &r->priority, err);
    if (rc == DG_OK)
        rc = dg_read_timeout(r->body, limits->timeout_ms, &r->timeout_ms, err);
    if (rc == DG_OK)
        rc = dg_read_characters(item, NULL, limits->characters, err);
    r->shape = stream ? DG_SHAPE_EVENTS : DG_SHAPE_WHOLE;
    return rc;
}

static int write(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    struct dg_json *root = dg_json_new_object(), *list = dg_json_new_array();
    struct dg_usage usage = {0};
    int rc = DG_OK;
    for (size_t i = 0; i < item->n_texts && rc == DG_OK; i++) {
        struct dg_json *o = dg_json_new_object();
        rc = dg_answer_translation(item, i, arena, o, &usage, err);
        dg_json_append_take(list, o);
    }
    dg_json_set_take(root, "translations", list);
    dg_json_set_take(root, "usage", dg_usage_write(&usage));
    dg_answer_put_take(root, &item->answer);
    return rc;
}

/* ---- events ---- */

static void write_sentence(const struct dg_streamed *s, struct dg_buffer *out)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "text_index", (int64_t)s->text);
    dg_json_set_int(o, "sentence_index", (int64_t)s->index);
    dg_answer_sentence_take(o, &s->sentence, s->placed, dg_json_new_string(s->translation, s->len));
    /* JSON has no raw line breaks, so that one data line holds it. */
    dg_buffer_adds(out, "event: sentence\ndata: ");
    dg_answer_put_take(o, out);
    dg_buffer_adds(out, "\n\n");
}

static void write_end(const struct dg_item *item, const struct dg_error *err, struct dg_buffer *out)
{
    dg_buffer_adds(out, err ? "event: error\ndata: " : "event: done\ndata: ");
    if (err)
        dg_answer_put_take(dg_reply_error_json(err), out);
    else
        dg_buffer_add(out, item->answer.data, item->answer.len);
    dg_buffer_adds(out, "\n\n");
}

const struct dg_endpoint dg_endpoint_translate = {
    .read = read,
    .kind = {.may_pivot = true,
        .write = write,
        .write_sentence = write_sentence,
        .write_end = write_end,
        .fail = dg_reply_failure},
};
