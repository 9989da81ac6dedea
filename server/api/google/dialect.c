#include "server/access/auth.h"
#include "server/api/google/google.h"
#include "server/api/parameters.h"
#include "server/http/form.h"
#include "server/http/reply.h"

#include <stdio.h>
#include <string.h>

/* Google's reason for a status; for 400 there are several. */
static const char *reason_of(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {{400, "invalid"}, {403, "forbidden"}, {404, "notFound"},
        {405, "httpMethodNotAllowed"}, {413, "uploadTooLarge"}, {429, "rateLimitExceeded"}};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return status >= 500 ? "backendError" : "badRequest";
}

static void refuse_for(struct dg_http_reply *r, int status, const char *reason, const char *message)
{
    const bool usage = !strcmp(reason, "rateLimitExceeded") ||
                       !strcmp(reason, "dailyLimitExceeded") || !strncmp(reason, "key", 3);
    struct dg_json *root = dg_json_new_object(), *error = dg_json_new_object();
    struct dg_json *list = dg_json_new_array(), *one = dg_json_new_object();
    dg_reply_set_text(one, "message", message);
    dg_json_set_string(one, "domain", usage ? "usageLimits" : "global");
    dg_json_set_string(one, "reason", reason);
    dg_json_append_take(list, one);
    dg_json_set_int(error, "code", status);
    dg_reply_set_text(error, "message", message);
    dg_json_set_take(error, "errors", list);
    dg_json_set_take(root, "error", error);
    dg_reply_refusal_take(r, status, root);
}

static void error(struct dg_http_reply *r, int status, const char *message)
{
    refuse_for(r, status, reason_of(status), message);
}

/* A missing parameter has a reason of its own, a used-up daily quota also a status of its own. */
void dg_google_fail(struct dg_http_reply *r, const struct dg_error *err)
{
    static const char missing[] = " is missing";
    const size_t n = strlen(err->message);
    const int status = dg_reply_status(err);
    if (err->code == DG_EQUOTA)
        refuse_for(r, 403, "dailyLimitExceeded", err->message);
    else if (status == 400 && n > strlen(missing) &&
             strcmp(err->message + n - strlen(missing), missing) == 0)
        refuse_for(r, status, "required", err->message);
    else
        error(r, status, err->message);
}

static void refuse_key(struct dg_http_reply *r, enum dg_auth_verdict why, const char *message)
{
    switch (why) {
    case DG_AUTH_MISSING: error(r, 403, "The request is missing a valid API key."); break;
    case DG_AUTH_UNKNOWN:
        refuse_for(r, 400, "keyInvalid", "API key not valid. Please pass a valid API key.");
        break;
    case DG_AUTH_EXPIRED:
        refuse_for(r, 400, "keyExpired", "API key expired. Please renew the API key.");
        break;
    case DG_AUTH_RATE: error(r, 429, message); break;
    default: error(r, 403, message); break;
    }
}

static bool find_key(const struct dg_http_exchange *x, char out[DG_GATE_KEY])
{
    const char *key = dg_http_header(x, "X-Goog-Api-Key");
    if (!key || !*key)
        return dg_parameters_query_key(x, "key", out) || dg_parameters_key(x, "key", out);
    snprintf(out, DG_GATE_KEY, "%s", key);
    return true;
}

/* A request without a body has only the query's parameters. */
static int no_parameters(struct dg_json **out, struct dg_error *err)
{
    *out = dg_json_new_object();
    return *out ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for parameters");
}

/* Google's client libraries for Python and .NET put a body's parameters into an object "data". */
static void unwrap(struct dg_json **o)
{
    if (dg_json_length(*o) != 1 || dg_json_typeof(dg_json_get(*o, "data")) != DG_JSON_OBJECT)
        return;
    struct dg_json *data = dg_json_detach(*o, "data");
    dg_json_free(*o);
    *o = data;
}

/* Adds the query's parameters, too; for a form, its reader has read them already. */
static int add_query(
    const struct dg_http_exchange *x, bool form, struct dg_json *out, struct dg_error *err)
{
    const char *query = dg_http_request(x)->query;
    return form ? DG_OK : dg_form_read(query, strlen(query), out, err);
}

int dg_google_parameters(
    const struct dg_http_exchange *x, struct dg_json **out, struct dg_error *err)
{
    static const char *const strings[] = {"target", NULL};
    bool form = false;
    int rc = dg_http_request(x)->body_len > 0
                 ? dg_parameters_read(dg_http_request(x), out, &form, err)
                 : no_parameters(out, err);
    if (rc == DG_OK)
        unwrap(out);
    if (rc == DG_OK)
        rc = dg_parameters_check_strings(*out, form, strings, err);
    return rc == DG_OK ? add_query(x, form, *out, err) : rc;
}

int dg_google_parameters_read(struct dg_request *r, struct dg_error *err)
{
    bool form = false;
    int rc = dg_http_request(r->x)->body_len > 0 ? dg_parameters_read_request(r, &form, err)
                                                 : no_parameters(&r->body, err);
    if (rc == DG_OK)
        unwrap(&r->body);
    return rc == DG_OK ? add_query(r->x, form, r->body, err) : rc;
}

struct dg_json *dg_google_data_take(const char *key, struct dg_json *value)
{
    struct dg_json *root = dg_json_new_object(), *data = dg_json_new_object();
    dg_json_set_take(data, key, value);
    dg_json_set_take(root, "data", data);
    return root;
}

const struct dg_dialect dg_google = {
    .name = "google",
    .for_pages = true,
    .gate = {.find_key = find_key, .in_body = true, .refuse = refuse_key},
    .prefixes = {"/language/translate/"},
    .refuse = error,
};
