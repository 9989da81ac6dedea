/* The fields that several request bodies have: read and checked once, here. No HTTP. Any thread. */
#ifndef DG_SERVER_API_REQUEST_FIELDS_H
#define DG_SERVER_API_REQUEST_FIELDS_H

#include "base/json.h"
#include "server/schedule/task.h"

struct dg_request_limits {
    size_t characters; /* of all texts together, code points */
    size_t texts;
    uint32_t beam;
    int64_t timeout_ms;
};

struct dg_text {
    const char *s; /* [len]; valid UTF-8, borrowed from the request */
    size_t len;
};

struct dg_texts {
    struct dg_text *list; /* [n], to be freed */
    size_t n;
};

/* Each returns 0, or DG_EINVAL or DG_ELIMIT with a sentence and err->field = key; `where` (NULL or
 * "": none) and a dot stand in front, for objects within objects. */

/* Parse body[n]: an object with no keys but those of the NULL-ended list. *root is to be freed in
 * every case. Field "body" when it is not JSON or no object. */
int dg_request_object(const char *body, size_t n, const char *const *allowed, struct dg_json **root,
    struct dg_error *err);
/* A language code that must be there. */
int dg_request_code(const struct dg_json *o, const char *where, const char *key, const char **out,
    struct dg_error *err);
/* One text that must be there. */
int dg_request_text(const struct dg_json *o, const char *where, const char *key,
    struct dg_text *out, struct dg_error *err);
/* A text, or an array of 1 .. limits->texts of them. */
int dg_request_texts(const struct dg_json *o, const char *key,
    const struct dg_request_limits *limits, struct dg_texts *out, struct dg_error *err);
/* Code points, of one text and of all. */
size_t dg_request_characters(const struct dg_text *t);
int64_t dg_request_all_characters(const struct dg_texts *t);
/* priority, "interactive" or "bulk"; *out stays as it is when absent. */
int dg_request_priority(const struct dg_json *o, enum dg_class *out, struct dg_error *err);
/* timeout_ms, no more than the limit; 0 when absent. */
int dg_request_timeout(
    const struct dg_json *o, int64_t limit_ms, int64_t *out, struct dg_error *err);
/* A deadline as header X-Request-Timeout gives it, in seconds ("2", "0.5"); at most limit_ms is
 * granted. */
int dg_request_timeout_read(
    const char *text, int64_t limit_ms, int64_t *out_ms, struct dg_error *err);

#endif
