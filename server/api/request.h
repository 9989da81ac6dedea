/* Request bodies -> plain structs, every field checked. No HTTP. Any thread. */
#ifndef DG_SERVER_API_REQUEST_H
#define DG_SERVER_API_REQUEST_H

#include "server/api/request_options.h"

struct dg_v1_translate {
    struct dg_json *root;
    struct dg_texts text;
    const char *source, *target;
    struct dg_request_options options;
    bool stream;
    enum dg_class priority;
    int64_t timeout_ms; /* 0: not given */
};

struct dg_v1_score {
    struct dg_json *root;
    struct dg_texts source, target; /* the same number */
    const char *source_lang, *target_lang;
    int64_t timeout_ms;
};

struct dg_v1_detect {
    struct dg_json *root;
    struct dg_texts text;
};

/* Read body[n]. DG_EINVAL (field "body": not JSON or no object) and DG_ELIMIT name the field; out
 * is to be freed in every case. */
int dg_v1_translate_read(const char *body, size_t n, const struct dg_request_limits *limits,
    struct dg_v1_translate *out, struct dg_error *err);
void dg_v1_translate_free(struct dg_v1_translate *r);

int dg_v1_score_read(const char *body, size_t n, const struct dg_request_limits *limits,
    struct dg_v1_score *out, struct dg_error *err);
void dg_v1_score_free(struct dg_v1_score *r);

int dg_v1_detect_read(const char *body, size_t n, const struct dg_request_limits *limits,
    struct dg_v1_detect *out, struct dg_error *err);
void dg_v1_detect_free(struct dg_v1_detect *r);

#endif
