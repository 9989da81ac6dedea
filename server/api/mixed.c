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
    if (sources.n == 0)
        return dg_error_field(err, DG_ENOTFOUND, "source", "no model is served");
    dg_detect(sources.codes, sources.n, text->s, text->len, &d);
    *confidence = d.confidence;
    *code = dg_arena_strdup(&r->arena, sources.codes[d.language]);
    return *code ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a language code");
}

int dg_mixed_make(
    struct dg_request *r, struct dg_mixed *m, const struct dg_item *as, struct dg_error *err)
{
    const size_t n = as->n_texts;
    int rc = DG_OK;
    bool differ = false;
    m->n = n;
    m->detected = strcmp(as->source, DG_SOURCE_AUTO) == 0;
    m->texts = dg_arena_array(&r->arena, n, sizeof *m->texts);
    if (!m->texts)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu texts", n);
    for (size_t i = 0; i < n; i++) {
        m->texts[i].source = as->source;
        m->texts[i].characters = dg_utf8_count(as->texts[i].s, as->texts[i].len);
    }
    for (size_t i = 0; i < n && m->detected && rc == DG_OK; i++)
        rc = dg_source_detect(r, &as->texts[i], &m->texts[i].source, &m->texts[i].confidence, err);
    for (size_t i = 1; i < n && rc == DG_OK; i++)
        differ |= strcmp(m->texts[i].source, m->texts[0].source) != 0;
    if (rc == DG_OK)
        rc = dg_request_make_items(r, differ ? n : 1, err);
    if (rc != DG_OK)
        return rc;
    for (size_t i = 0; i < r->n && rc == DG_OK; i++) {
        struct dg_item *item = &r->items[i];
        item->source = m->texts[i].source;
        item->target = as->target;
        item->options = as->options;
        item->texts = &as->texts[i];
        item->n_texts = differ ? 1 : n;
        rc = dg_read_characters(item, NULL, SIZE_MAX, err);
    }
    if (differ)
        r->kind = m->each;
    r->extra = m;
    return rc;
}

int dg_mixed_write(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    const struct dg_mixed *m = item->request->extra;
    struct dg_json *list = dg_json_new_array();
    struct dg_usage usage = {0};
    int rc = DG_OK;
    for (size_t i = 0; i < m->n && rc == DG_OK; i++) {
        struct dg_json *o = dg_json_new_object();
        rc = dg_answer_translation(item, i, arena, o, &usage, err);
        dg_json_append_take(list, o);
    }
    if (rc == DG_OK)
        m->reply(m, list, &usage, &item->answer);
    dg_json_free(list);
    return rc;
}

int dg_mixed_write_one(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    struct dg_json *o = dg_json_new_object();
    struct dg_usage usage = {0};
    int rc = dg_answer_translation(item, 0, arena, o, &usage, err);
    dg_usage_add(&item->request->usage, &usage);
    if (rc == DG_OK)
        dg_answer_put_take(o, &item->answer);
    else
        dg_json_free(o);
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
    if (dg_json_length(list) == m->n)
        m->reply(m, list, &r->usage, out);
    else
        dg_error_set(err, DG_ENOMEM, "no memory for %zu answers", m->n);
    dg_json_free(list);
    return err->code;
}
