#include "server/reply.h"

#include "base/clock.h"
#include "server/quota.h"

#include <stdio.h>
#include <string.h>

void dg_reply_json_take(struct dg_http_reply *r, int status, struct dg_json *value)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    if (value)
        dg_json_write(value, 0, &b);
    dg_json_free(value);
    if (value && !b.failed && b.len > 0) {
        r->status = status;
        r->content_type = "application/json";
        r->body = dg_buffer_take(&b, &r->body_len);
    } else {
        r->status = 503; /* no memory: an empty body is all there is */
    }
    dg_buffer_deinit(&b);
}

void dg_reply_error(
    struct dg_http_reply *r, int status, const char *code, const char *field, const char *message)
{
    struct dg_json *error = dg_json_new_object(), *root = dg_json_new_object();
    dg_json_set_string(error, "code", code);
    dg_json_set_string(error, "message", message);
    if (field && field[0] != '\0')
        dg_json_set_string(error, "field", field);
    dg_json_set_take(root, "error", error);
    dg_reply_json_take(r, status, root);
    if (status == 503 || status == 429)
        dg_reply_retry_after(r, 1);
}

void dg_reply_retry_after(struct dg_http_reply *r, int64_t seconds)
{
    size_t i = 0;
    while (i < r->n_headers && strcmp(r->headers[i].name, "Retry-After") != 0)
        i++;
    if (i == r->n_headers)
        dg_http_reply_header(r, "Retry-After", "1");
    snprintf(r->headers[i].value, sizeof r->headers[i].value, "%lld",
        (long long)(seconds > 1 ? seconds : 1));
}

void dg_reply_client_gone(struct dg_http_reply *r)
{
    dg_reply_error(r, 408, "client_gone", NULL, "the client closed its side of the connection");
    r->close = true;
}

void dg_reply_failure(struct dg_http_reply *r, const struct dg_error *err)
{
    int status = 500;
    const char *code = "internal";
    switch (err->code) {
    case DG_EINVAL:
        status = 400;
        code = strcmp(err->field, "body") == 0 ? "invalid_json" : "invalid_request";
        break;
    case DG_ELIMIT:
        status = 413;
        code = "too_large";
        break;
    case DG_ENOTFOUND:
        status = 400;
        code = "unsupported_language";
        break;
    case DG_EUNSUP:
        status = 400;
        code = "unsupported";
        break;
    case DG_EAGAIN:
    case DG_ENOMEM:
        status = 503;
        code = "overloaded";
        break;
    case DG_ECANCELED:
        status = 503;
        code = "stopping";
        break;
    case DG_EQUOTA:
        status = 429;
        code = "quota_exceeded";
        break;
    default:
        break;
    }
    dg_reply_error(r, status, code, err->field, err->message);
    if (err->code == DG_EQUOTA) {
        int64_t left;
        dg_quota_day(dg_clock_wall_s(), &left);
        dg_reply_retry_after(r, left);
    }
}
