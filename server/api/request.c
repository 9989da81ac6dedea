#include "server/api/request.h"

#include <stdlib.h>
#include <string.h>

static int check_characters(const struct dg_texts *a, const struct dg_texts *b, const char *key,
    const struct dg_request_limits *limits, struct dg_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        n += dg_request_characters(&a->list[i]);
    for (size_t i = 0; b && i < b->n; i++)
        n += dg_request_characters(&b->list[i]);
    if (n <= limits->characters)
        return DG_OK;
    return dg_error_field(err, DG_ELIMIT, key, "the request has %zu characters, the limit is %zu",
        n, limits->characters);
}

int dg_v1_translate_read(const char *body, size_t n, const struct dg_request_limits *limits,
    struct dg_v1_translate *out, struct dg_error *err)
{
    static const char *const allowed[] = {
        "text", "source", "target", "stream", "priority", "timeout_ms", DG_REQUEST_OPTIONS, NULL};
    memset(out, 0, sizeof *out);
    int rc = dg_request_object(body, n, allowed, &out->root, err);
    if (rc == DG_OK)
        rc = dg_request_texts(out->root, "text", limits, &out->text, err);
    if (rc == DG_OK)
        rc = dg_request_code(out->root, NULL, "source", &out->source, err);
    if (rc == DG_OK)
        rc = dg_request_code(out->root, NULL, "target", &out->target, err);
    if (rc == DG_OK)
        rc = dg_request_options_read(out->root, NULL, limits, &out->options, err);
    if (rc == DG_OK)
        rc = dg_json_field_bool(out->root, NULL, "stream", &out->stream, err);
    if (rc == DG_OK)
        rc = dg_request_priority(out->root, &out->priority, err);
    if (rc == DG_OK)
        rc = dg_request_timeout(out->root, limits->timeout_ms, &out->timeout_ms, err);
    if (rc == DG_OK)
        rc = check_characters(&out->text, NULL, "text", limits, err);
    return rc;
}

void dg_v1_translate_free(struct dg_v1_translate *r)
{
    free(r->text.list);
    dg_json_free(r->root);
    memset(r, 0, sizeof *r);
}

int dg_v1_score_read(const char *body, size_t n, const struct dg_request_limits *limits,
    struct dg_v1_score *out, struct dg_error *err)
{
    static const char *const allowed[] = {
        "source", "target", "source_lang", "target_lang", "timeout_ms", NULL};
    memset(out, 0, sizeof *out);
    int rc = dg_request_object(body, n, allowed, &out->root, err);
    if (rc == DG_OK)
        rc = dg_request_texts(out->root, "source", limits, &out->source, err);
    if (rc == DG_OK)
        rc = dg_request_texts(out->root, "target", limits, &out->target, err);
    if (rc == DG_OK && out->source.n != out->target.n)
        rc = dg_error_field(err, DG_EINVAL, "target", "target has %zu texts, source has %zu",
            out->target.n, out->source.n);
    if (rc == DG_OK)
        rc = dg_request_code(out->root, NULL, "source_lang", &out->source_lang, err);
    if (rc == DG_OK)
        rc = dg_request_code(out->root, NULL, "target_lang", &out->target_lang, err);
    if (rc == DG_OK)
        rc = dg_request_timeout(out->root, limits->timeout_ms, &out->timeout_ms, err);
    if (rc == DG_OK)
        rc = check_characters(&out->source, &out->target, "source", limits, err);
    return rc;
}

void dg_v1_score_free(struct dg_v1_score *r)
{
    free(r->source.list);
    free(r->target.list);
    dg_json_free(r->root);
    memset(r, 0, sizeof *r);
}

int dg_v1_detect_read(const char *body, size_t n, const struct dg_request_limits *limits,
    struct dg_v1_detect *out, struct dg_error *err)
{
    static const char *const allowed[] = {"text", NULL};
    memset(out, 0, sizeof *out);
    int rc = dg_request_object(body, n, allowed, &out->root, err);
    if (rc == DG_OK)
        rc = dg_request_texts(out->root, "text", limits, &out->text, err);
    if (rc == DG_OK)
        rc = check_characters(&out->text, NULL, "text", limits, err);
    return rc;
}

void dg_v1_detect_free(struct dg_v1_detect *r)
{
    free(r->text.list);
    dg_json_free(r->root);
    memset(r, 0, sizeof *r);
}
