#include "server/http/reply.h"

#include "base/clock.h"
#include "base/day.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The reply when there is no memory for the right one: our own API's format in every dialect, with
 * a status that every dialect has. */
static const char NO_MEMORY[] =
    "{\"error\":{\"code\":\"overloaded\",\"message\":\"no memory for the reply\"}}";

void dg_reply_json_take(struct dg_http_reply *r, int status, struct dg_json *value)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    if (dg_json_write(value, 0, &b) != 0)
        b.failed = true;
    dg_json_free(value);
    if (value && !b.failed && b.len > 0) {
        r->status = status;
        r->content_type = "application/json";
        r->body = dg_buffer_take(&b, &r->body_len);
    } else {
        r->status = 503;
        r->content_type = "application/json";
        r->fixed = NO_MEMORY;
        r->body_len = sizeof NO_MEMORY - 1;
    }
    dg_buffer_deinit(&b);
}

/* Messages quote requests and truncate long quotations, which may split a character; JSON does not
 * allow that. */
void dg_reply_set_text(struct dg_json *object, const char *key, const char *s)
{
    char *copy = strdup(s);
    if (copy)
        dg_utf8_mend(copy);
    dg_json_set_string(object, key, copy ? copy : s);
    free(copy);
}

static struct dg_json *error_json(const char *code, const char *field, const char *message)
{
    struct dg_json *error = dg_json_new_object();
    dg_json_set_string(error, "code", code);
    dg_reply_set_text(error, "message", message);
    if (field && field[0] != '\0')
        dg_reply_set_text(error, "field", field);
    return error;
}

void dg_reply_refusal_take(struct dg_http_reply *r, int status, struct dg_json *value)
{
    dg_reply_json_take(r, status, value);
    if (status == 503 || status == 429)
        dg_reply_retry_after(r, 1);
}

void dg_reply_error(
    struct dg_http_reply *r, int status, const char *code, const char *field, const char *message)
{
    struct dg_json *root = dg_json_new_object();
    dg_json_set_take(root, "error", error_json(code, field, message));
    dg_reply_refusal_take(r, status, root);
}

void dg_reply_message(struct dg_http_reply *r, int status, const char *key, const char *message)
{
    struct dg_json *root = dg_json_new_object();
    dg_reply_set_text(root, key, message);
    dg_reply_refusal_take(r, status, root);
}

void dg_reply_with_take(struct dg_http_exchange *x, int status, struct dg_json *value)
{
    struct dg_http_reply r = {0};
    dg_reply_json_take(&r, status, value);
    dg_http_reply_take(x, &r);
}

void dg_reply_with_error(
    struct dg_http_exchange *x, int status, const char *code, const char *message)
{
    struct dg_http_reply r = {0};
    dg_reply_error(&r, status, code, NULL, message);
    dg_http_reply_take(x, &r);
}

void dg_reply_fixed(struct dg_http_reply *r, const void *data, size_t n)
{
    r->status = 200;
    r->fixed = data;
    r->body_len = n;
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
    dg_reply_error(r, 499, "client_gone", NULL, "the client closed its side of the connection");
    r->close = true;
}

/* The API's code for an error, and the status it goes with. */
static const char *classify(const struct dg_error *err, int *status)
{
    static const struct {
        int code, status;
        const char *name;
    } table[] = {{DG_EINVAL, 400, "invalid_request"}, {DG_ELIMIT, 413, "too_large"},
        {DG_ENOTFOUND, 400, "unsupported_language"}, {DG_EUNSUP, 400, "unsupported"},
        {DG_EAGAIN, 503, "overloaded"}, {DG_ENOMEM, 503, "overloaded"},
        {DG_ECANCELED, 503, "stopping"}, {DG_EQUOTA, 429, "quota_exceeded"},
        {DG_ETIMEOUT, 504, "timeout"}};
    if (err->code == DG_EINVAL && strcmp(err->field, "body") == 0) {
        *status = 400;
        return "invalid_json";
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].code == err->code) {
            *status = table[i].status;
            return table[i].name;
        }
    }
    *status = 500;
    return "internal";
}

struct dg_json *dg_reply_error_json(const struct dg_error *err)
{
    int status;
    return error_json(classify(err, &status), err->field, err->message);
}

int dg_reply_status(const struct dg_error *err)
{
    int status;
    classify(err, &status);
    return status;
}

void dg_reply_failure(struct dg_http_reply *r, const struct dg_error *err)
{
    int status;
    const char *code = classify(err, &status);
    dg_reply_error(r, status, code, err->field, err->message);
    if (err->code == DG_EQUOTA) {
        int64_t left;
        dg_day_of(dg_clock_wall_s(), &left);
        dg_reply_retry_after(r, left);
    }
}
