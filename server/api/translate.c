/* POST /v1/translate: texts of one pair, as one answer or as events. */
#include "server/api/answer.h"
#include "server/api/endpoints.h"
#include "server/api/mixed.h"
#include "server/http/reply.h"
#include "server/request/stream.h"

static void reply_take(
    const struct dg_mixed *m, struct dg_json *translations, struct dg_buffer *out)
{
    struct dg_json *root = dg_json_new_object();
    for (size_t i = 0; i < m->n && m->detected; i++)
        dg_json_set_int(dg_json_at(translations, i), "source_confidence", m->texts[i].confidence);
    dg_json_set_take(root, "translations", translations);
    dg_json_set_take(root, "usage", dg_usage_write(m->usage));
    dg_answer_put_take(root, out);
}

static int take(struct dg_request *r, const struct dg_body *b, struct dg_error *err)
{
    int rc = dg_mixed_make(r, reply_take, b, 0, err);
    if (rc == DG_OK && b->stream && r->n > 1)
        rc = dg_error_field(err, DG_EINVAL, "stream",
            "stream does not support source \"auto\" for texts in several languages");
    r->shape = b->stream ? DG_SHAPE_EVENTS : DG_SHAPE_WHOLE;
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
    .fields = {DG_BODY_TEXTS, DG_BODY_LANGUAGES, DG_BODY_OPTIONS, DG_BODY_STREAM, DG_BODY_PRIORITY,
        DG_BODY_TIMEOUT_MS},
    .take = take,
    .kind = {DG_MIXED, .write_sentence = write_sentence, .write_end = write_end,
        .fail = dg_reply_failure},
};
