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
    /* its translation was chosen by reading the answers back */
    bool reranked;
};

struct dg_mixed;

/* Append the reply's body. translations: an array [n] of translations in /v1's form, taken. */
typedef void dg_mixed_reply_take(
    const struct dg_mixed *m, struct dg_json *translations, struct dg_buffer *out);

struct dg_mixed {
    dg_mixed_reply_take *reply_take;
    /* [n], the arena's */
    struct dg_mixed_text *texts;
    size_t n;
    /* source was "auto" */
    bool detected;
    /* of all texts, once they are translated; the request's */
    const struct dg_usage *usage;
    /* the dialect's own: flags, and its body's extra */
    unsigned flags;
    const void *extra;
};

/* Detect which of the served languages a text is in: *code, the arena's, and the confidence, 0 to
 * 100. DG_ENOMEM. */
int dg_source_detect(struct dg_request *r, const struct dg_text *text, const char **code,
    int *confidence, struct dg_error *err);

/* Make items from the body, for a request whose kind has DG_MIXED; it becomes a fed one if each
 * text is an item. DG_ENOMEM. */
int dg_mixed_make(struct dg_request *r, dg_mixed_reply_take *reply_take, const struct dg_body *b,
    unsigned flags, struct dg_error *err);

/* A copy of the text of such a translation, for the dialect's own reply. */
struct dg_json *dg_mixed_copy_text(const struct dg_json *translation);

/* For struct dg_request_kind. When each text is an item, the request fails with the first error of
 * an item. */
#define DG_MIXED                                                                                   \
    .may_pivot = true, .write = dg_mixed_write, .write_error = dg_mixed_write_error,               \
    .write_whole = dg_mixed_write_whole
int dg_mixed_write(struct dg_item *item, struct dg_arena *arena, struct dg_error *err);
void dg_mixed_write_error(struct dg_item *item, const struct dg_error *err);
int dg_mixed_write_whole(const struct dg_request *r, struct dg_buffer *out, struct dg_error *err);

#endif
