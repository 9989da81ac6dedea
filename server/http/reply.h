/* Replies as the API gives them: JSON values and errors {"error":{"code","message","field"?}}.
 * Any thread. */
#ifndef DG_SERVER_HTTP_REPLY_H
#define DG_SERVER_HTTP_REPLY_H

#include "base/error.h"
#include "base/json.h"
#include "server/http/http.h"

/* An error as the API writes it, {"code","message","field"?}; NULL when memory is out. */
struct dg_json *dg_reply_error_json(const struct dg_error *err);
/* The status of a reply with this error. */
int dg_reply_status(const struct dg_error *err);
/* Fill r with an error; field may be NULL. */
void dg_reply_error(
    struct dg_http_reply *r, int status, const char *code, const char *field, const char *message);
/* The same from a dg_error: status and code follow from its code and field. */
void dg_reply_failure(struct dg_http_reply *r, const struct dg_error *err);
/* Fill r with an error value of any shape, freed here; 429 and 503 have Retry-After. */
void dg_reply_refusal_take(struct dg_http_reply *r, int status, struct dg_json *value);
/* Set a message in an error value; a character that was cut off when the message quoted a request
 * is mended. */
void dg_reply_set_text(struct dg_json *object, const char *key, const char *s);
/* Fill r with {key: message}; 429 and 503 have Retry-After. */
void dg_reply_message(struct dg_http_reply *r, int status, const char *key, const char *message);
/* Fill r with data [n] in static storage; its content_type must be set. */
void dg_reply_fixed(struct dg_http_reply *r, const void *data, size_t n);
/* Fill r with the reply to a client that has hung up; nobody will read it. */
void dg_reply_client_gone(struct dg_http_reply *r);
/* Fill r with a value, freed here; NULL or out of memory gives 503. */
void dg_reply_json_take(struct dg_http_reply *r, int status, struct dg_json *value);
/* Reply to an exchange with a value, taken; or with an error of our own API. HTTP thread. */
void dg_reply_with_take(struct dg_http_exchange *x, int status, struct dg_json *value);
void dg_reply_with_error(
    struct dg_http_exchange *x, int status, const char *code, const char *message);

/* Set Retry-After: seconds, at least 1. */
void dg_reply_retry_after(struct dg_http_reply *r, int64_t seconds);

#endif
