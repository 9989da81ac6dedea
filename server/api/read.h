/* The fields that several request bodies have: read and checked once, here. A reader of an endpoint
 * (endpoints.h) is a list of these. No HTTP. Any thread. */
#ifndef DG_SERVER_API_READ_H
#define DG_SERVER_API_READ_H

#include "base/json.h"
#include "server/request/request.h"

struct dg_limits {
    size_t characters; /* of all texts together, or of an item of a batch; code points */
    size_t texts;
    uint32_t beam;
    size_t items, all_characters; /* of a batch */
    int64_t timeout_ms;
};

/* The keys of the options that all translations have, for a list of allowed ones. */
#define DG_OPTION_KEYS                                                                             \
    "beam_size", "length_penalty", "n_best", "scores", "alignments", "target_prefix", "sampling",  \
        "format"

/* Each returns 0, or DG_EINVAL or DG_ELIMIT with a sentence and err->field = key; `where` (NULL or
 * "": none) and a dot stand in front, for objects within objects. What is read is borrowed from the
 * object. */

/* Parse body[n]: an object with no keys but those of the NULL-ended list. *root is to be freed in
 * every case. Field "body" when it is not JSON or no object. */
int dg_read_object(const char *body, size_t n, const char *const *allowed, struct dg_json **root,
    struct dg_error *err);
/* The languages: source and target. */
int dg_read_languages(
    const struct dg_json *o, const char *where, struct dg_item *out, struct dg_error *err);
/* One text that must be there. */
int dg_read_text(const struct dg_json *o, const char *where, const char *key, struct dg_text *out,
    struct dg_error *err);
/* The item's one text, field text. */
int dg_read_one_text(
    const struct dg_json *o, const char *where, struct dg_item *item, struct dg_error *err);
/* A text, or an array of 1 .. limits->texts of them; the list is the arena's. */
int dg_read_texts(const struct dg_json *o, const char *key, const struct dg_limits *limits,
    struct dg_arena *arena, struct dg_text **list, size_t *n, struct dg_error *err);
/* Count the characters of the item's texts, given translations and target_prefix, which are at most
 * `most`. */
int dg_read_characters(struct dg_item *item, const char *where, size_t most, struct dg_error *err);
/* beam_size and length_penalty; what is absent gets the model's default. */
int dg_read_search(const struct dg_json *o, const char *where, const struct dg_limits *limits,
    struct dg_search *out, struct dg_error *err);
/* All of DG_OPTION_KEYS. */
int dg_read_options(const struct dg_json *o, const char *where, const struct dg_limits *limits,
    struct dg_request_options *out, struct dg_error *err);
/* priority, "interactive" or "bulk"; *out stays as it is when absent. */
int dg_read_priority(const struct dg_json *o, enum dg_class *out, struct dg_error *err);
/* timeout_ms, no more than the limit; 0 when absent. */
int dg_read_timeout(const struct dg_json *o, int64_t limit_ms, int64_t *out, struct dg_error *err);
/* A deadline as header X-Request-Timeout gives it, in seconds ("2", "0.5"); at most limit_ms is
 * granted. */
int dg_read_timeout_header(
    const char *text, int64_t limit_ms, int64_t *out_ms, struct dg_error *err);

#endif
