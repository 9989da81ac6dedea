/* Common parts of most dialects' requests: texts and two languages, under field names of their own.
 * Other fields of a body are ignored, as these APIs do. Messages name the field, its value and the
 * allowed values. Planners' threads. */
#ifndef DG_SERVER_API_DIALECT_REQUEST_H
#define DG_SERVER_API_DIALECT_REQUEST_H

#include "server/api/body.h"

/* A dialect's names of the fields. */
struct dg_dialect_request {
    const char *texts, *source, *target;
};

/* Read texts, source and target from the request's body, which has been parsed. A source that is
 * absent, "" or "auto" is DG_SOURCE_AUTO. DG_EINVAL, DG_ELIMIT, DG_ENOMEM. */
int dg_dialect_request_read(
    struct dg_body *b, const struct dg_dialect_request *names, struct dg_error *err);
/* A string that must be one of a NULL-terminated list of words: its index, -1 if it is absent,
 * null or empty, -2 with a message that names `allowed` if it is another. */
int dg_dialect_request_word(const struct dg_json *o, const char *name, const char *const *words,
    const char *allowed, struct dg_error *err);
/* Read only the texts: a string or an array of strings. */
int dg_dialect_request_texts(struct dg_body *b, const char *name, struct dg_error *err);
/* DG_EINVAL: the field's value is not a served language of a side (DG_SOURCES, DG_TARGETS). The
 * message lists those that are, or the first of many. */
int dg_dialect_request_not_served(
    struct dg_request *r, const char *name, const char *value, unsigned side, struct dg_error *err);

/* A served code as most other APIs write it: "zh-CN" for "zh-Hans", "zh-TW" for "zh-Hant", else
 * itself. */
const char *dg_dialect_code(const char *served);

#endif
