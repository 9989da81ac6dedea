/* A request's body: the fields of all endpoints, read and checked once, here. An endpoint
 * (endpoints.h) lists its fields in the order in which they are checked; dialects fill in the same
 * struct from their own fields. No HTTP. Any thread. */
#ifndef DG_SERVER_API_BODY_H
#define DG_SERVER_API_BODY_H

#include "base/json.h"
#include "server/request/request.h"

struct dg_limits {
    /* code points of all texts of a request together, or of one item of a batch */
    size_t characters;
    size_t texts;
    uint32_t beam;
    /* of a batch */
    size_t items, all_characters;
    int64_t timeout_ms;
};

/* A body, or an item of a batch. Lists are the request's arena's, strings the JSON tree's. */
struct dg_body {
    struct dg_request *request;
    const struct dg_limits *limits;
    const char *source, *target;
    /* [n_texts] */
    struct dg_text *texts;
    /* [n_given] translations that the client supplies: as many as texts, or NULL */
    struct dg_text *given;
    size_t n_texts, n_given;
    struct dg_request_options options;
    bool stream;
    enum dg_class priority;
    /* 0: not given */
    int64_t timeout_ms;
    /* for attention weights: an enum dg_attention_kind, and a layer; 0: all */
    int kind;
    int64_t layer;
    /* a dialect's data for its own writer; the arena's */
    const void *extra;
};

/* The fields; one that has no comment is the same in every body. */
enum dg_body_field {
    DG_BODY_END,
    /* read by the endpoint itself */
    DG_BODY_ID,
    DG_BODY_ITEMS,
    /* text: one text; one or an array of them */
    DG_BODY_TEXT,
    DG_BODY_TEXTS,
    /* translation: as many as there are texts; a single one, which may be absent */
    DG_BODY_GIVEN,
    DG_BODY_GIVEN_ONE,
    DG_BODY_SOURCE,
    DG_BODY_TARGET,
    DG_BODY_BEAM_SIZE,
    DG_BODY_LENGTH_PENALTY,
    DG_BODY_N_BEST,
    DG_BODY_RERANK,
    DG_BODY_SCORES,
    DG_BODY_ALIGNMENTS,
    DG_BODY_TARGET_PREFIX,
    /* target_prefix, but required */
    DG_BODY_GIVEN_PREFIX,
    DG_BODY_SAMPLING,
    DG_BODY_FORMAT,
    DG_BODY_GLOSSARY,
    DG_BODY_MEMORY,
    /* n: number of alternatives */
    DG_BODY_N,
    DG_BODY_KIND,
    DG_BODY_LAYER,
    DG_BODY_STREAM,
    /* priority; with bulk as the default */
    DG_BODY_PRIORITY,
    DG_BODY_BULK_PRIORITY,
    DG_BODY_TIMEOUT_MS,
    DG_BODY_FIELDS
};

#define DG_BODY_LANGUAGES DG_BODY_SOURCE, DG_BODY_TARGET
#define DG_BODY_SEARCH DG_BODY_BEAM_SIZE, DG_BODY_LENGTH_PENALTY
/* The options that all translations have. */
#define DG_BODY_OPTIONS                                                                            \
    DG_BODY_SEARCH, DG_BODY_N_BEST, DG_BODY_RERANK, DG_BODY_SCORES, DG_BODY_ALIGNMENTS,            \
        DG_BODY_TARGET_PREFIX, DG_BODY_SAMPLING, DG_BODY_FORMAT, DG_BODY_GLOSSARY, DG_BODY_MEMORY

/* Initialize a body: every option takes the model's or the server's default. */
void dg_body_init(struct dg_body *b, struct dg_request *r, const struct dg_limits *limits);
/* Parse text[n] into the request's tree: DG_EINVAL, field "body", when it is no JSON or no
 * object. */
int dg_body_parse(struct dg_request *r, const char *text, size_t n, struct dg_error *err);
/* Read the fields, ended by DG_BODY_END, of object o, which may have no others, and check the
 * number of characters. DG_EINVAL, DG_ELIMIT or DG_ENOMEM; messages and err->field say "where.key"
 * (where NULL: only the key, o being the whole body). */
int dg_body_read(struct dg_body *b, const struct dg_json *o, const char *where,
    const enum dg_body_field *fields, struct dg_error *err);
/* Read only the texts v of field `name` into *list (&b->texts or &b->given), and set their number:
 * a string or, unless `one` is set, also an array of 1 .. limits->texts strings. */
int dg_body_read_texts(struct dg_body *b, const char *name, const struct dg_json *v, bool one,
    struct dg_text **list, struct dg_error *err);
/* Check the total length: DG_ELIMIT, field "text", when texts, given translations and target_prefix
 * have more characters than the limit. */
int dg_body_check_characters(const struct dg_body *b, const char *where, struct dg_error *err);
/* Fill in an item with n texts from `first` on, the languages and the options. Counts the
 * characters. */
void dg_body_put(const struct dg_body *b, size_t first, size_t n, struct dg_item *item);

/* Read a deadline as header X-Request-Timeout gives it, in seconds ("2", "0.5"); at most limit_ms
 * is granted. */
int dg_body_timeout_header(
    const char *text, int64_t limit_ms, int64_t *out_ms, struct dg_error *err);

#endif
