#include "server/api/mixed.h"

#include "server/api/answer.h"
#include "server/models/models.h"
#include "text/detect/detect.h"
#include "text/utf8.h"

#include <string.h>

int dg_source_detect(struct dg_request *r, const struct dg_text *text, const char **code,
    int *confidence, struct dg_error *err)
{
    struct dg_model_languages sources;
    struct dg_detected d;
    dg_models_languages(r->app->models, DG_SOURCES, &sources);
    dg_detect(sources.codes, sources.n, text->s, text->len, &d);
    *confidence = d.confidence;
    *code = dg_arena_strdup(&r->arena, sources.codes[d.language]);
    return *code ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a language code");
}

/* Finds each text's language; *differ: they are not all the same. */
static int find_sources(struct dg_request *r, struct dg_mixed *m, const struct dg_body *b,
    bool *differ, struct dg_error *err)
{
    for (size_t i = 0; i < m->n; i++) {
        struct dg_mixed_text *t = &m->texts[i];
        t->source = b->source;
        t->characters = dg_utf8_count(b->texts[i].s, b->texts[i].len);
        int rc = m->detected ? dg_source_detect(r, &b->texts[i], &t->source, &t->confidence, err)
                             : DG_OK;
        if (rc != DG_OK)
            return rc;
        *differ |= strcmp(t->source, m->texts[0].source) != 0;
    }
    return DG_OK;
}

int dg_mixed_make(struct dg_request *r, dg_mixed_reply_take *reply_take, const struct dg_body *b,
    unsigned flags, struct dg_error *err)
{
    struct dg_mixed *m = dg_arena_alloc(&r->arena, sizeof *m);
    struct dg_mixed_text *texts = dg_arena_array(&r->arena, b->n_texts, sizeof *texts);
    bool differ = false;
    if (!m || !texts)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu texts", b->n_texts);
    *m = (struct dg_mixed){reply_take, texts, b->n_texts, strcmp(b->source, DG_SOURCE_AUTO) == 0,
        &r->usage, flags, b->extra};
    int rc = find_sources(r, m, b, &differ, err);
    if (rc == DG_OK)
        rc = dg_request_make_items(r, differ ? m->n : 1, err);
    for (size_t i = 0; i < r->n && rc == DG_OK; i++) {
        dg_body_put(b, i, differ ? 1 : m->n, &r->items[i]);
        r->items[i].source = texts[i].source;
    }
    r->fed = rc == DG_OK && differ;
    r->extra = m;
    return rc;
}

struct dg_json *dg_mixed_copy_text(const struct dg_json *translation)
{
    return dg_json_copy(dg_json_get(translation, "text"));
}

/* One of several items: its only translation, for write_whole. */
static int write_one(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    const struct dg_mixed *m = item->request->extra;
    struct dg_json *o = dg_json_new_object();
    m->texts[item - item->request->items].reranked = item->options.rerank;
    int rc = dg_answer_translation(item, 0, arena, o, &item->request->usage, err);
    if (rc == DG_OK)
        dg_answer_put_take(o, &item->answer);
    else
        dg_json_free(o);
    return rc;
}

int dg_mixed_write(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    struct dg_request *r = item->request;
    const struct dg_mixed *m = r->extra;
    if (r->fed)
        return write_one(item, arena, err);
    struct dg_json *list = dg_json_new_array();
    int rc = DG_OK;
    for (size_t i = 0; i < m->n && rc == DG_OK; i++) {
        struct dg_json *o = dg_json_new_object();
        m->texts[i].reranked = item->options.rerank;
        rc = dg_answer_translation(item, i, arena, o, &r->usage, err);
        dg_json_append_take(list, o);
    }
    if (rc == DG_OK)
        m->reply_take(m, list, &item->answer);
    else
        dg_json_free(list);
    return rc;
}

void dg_mixed_write_error(struct dg_item *item, const struct dg_error *err)
{
    dg_error_field(&item->request->err, err->code, err->field, "%s", err->message);
}

int dg_mixed_write_whole(const struct dg_request *r, struct dg_buffer *out, struct dg_error *err)
{
    const struct dg_mixed *m = r->extra;
    if (r->err.code != DG_OK) {
        *err = r->err;
        return err->code;
    }
    struct dg_json *list = dg_json_new_array();
    for (size_t i = 0; i < r->n; i++) {
        const struct dg_buffer *answer = &r->items[i].answer;
        dg_json_append_take(list, answer->len > 0 && !answer->failed
                                      ? dg_json_parse(answer->data, answer->len, NULL)
                                      : NULL);
    }
    if (dg_json_length(list) == m->n) {
        m->reply_take(m, list, out);
        return DG_OK;
    }
    dg_json_free(list);
    return dg_error_set(err, DG_ENOMEM, "no memory for %zu answers", m->n);
}
