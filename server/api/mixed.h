/* Texts of one request in different languages: with source "auto", the language of each is
 * detected. If all texts are in one language they are one item of the request (request.h),
 * otherwise each is an item. Dialects make their replies from translations in /v1's form. HTTP
 * threads. */
#ifndef DG_SERVER_API_MIXED_H
#define DG_SERVER_API_MIXED_H

#include "server/api/endpoints.h"

#define DG_SOURCE_AUTO "auto"

struct dg_mixed_text {
    /* the arena's if it was detected, otherwise the body's, which the writer no longer has */
    const char *source;
    /* confidence of the detection, 0 to 100; only for a detected source */
    int confidence;
    /* code points */
    size_t characters;
};

struct dg_mixed;

/* A dialect's own part. Static storage. */
struct dg_mixed_kind {
    /* Append the reply's body. translations: an array [n] of translations in /v1's form, taken. */
    void (*reply_take)(const struct dg_mixed *m, struct dg_json *translations,
        const struct dg_usage *usage, struct dg_buffer *out);
    /* the request's kind when each text is an item: DG_MIXED_EACH */
    const struct dg_request_kind *each;
};

struct dg_mixed {
    const struct dg_mixed_kind *kind;
    /* [n], the arena's */
    struct dg_mixed_text *texts;
    size_t n;
    /* source was "auto" */
    bool detected;
    /* the dialect's own: flags, and its body's extra */
    unsigned flags;
    const void *extra;
};

/* Detect which of the served languages a text is in: *code, the arena's, and the confidence, 0 to
 * 100. DG_ENOTFOUND if no model is served. */
int dg_source_detect(struct dg_request *r, const struct dg_text *text, const char **code,
    int *confidence, struct dg_error *err);

/* Make items from the body, for a request whose kind writes with dg_mixed_write. DG_ENOTFOUND if no
 * model is served. */
int dg_mixed_make(struct dg_request *r, const struct dg_mixed_kind *kind, const struct dg_body *b,
    unsigned flags, struct dg_error *err);

/* For struct dg_request_kind, when all texts are one item. */
int dg_mixed_write(struct dg_item *item, struct dg_arena *arena, struct dg_error *err);
/* The same when each text is an item: the request fails with the first error of an item. */
int dg_mixed_write_one(struct dg_item *item, struct dg_arena *arena, struct dg_error *err);
void dg_mixed_write_error(struct dg_item *item, const struct dg_error *err);
int dg_mixed_write_whole(const struct dg_request *r, struct dg_buffer *out, struct dg_error *err);
#define DG_MIXED_EACH(failure)                                                                     \
    {                                                                                              \
        .may_pivot = true, .fed = true, .write = dg_mixed_write_one,                               \
        .write_error = dg_mixed_write_error, .write_whole = dg_mixed_write_whole, .fail = failure  \
    }

#endif
