/* How a translation is wanted: the options that /v1/translate, each item of /v1/batch and whatever
 * else translates have in common. A new option is a field, a key in DG_REQUEST_OPTIONS, a line in
 * dg_request_options_read and one in dg_request_options_plan. Plain data; any thread. */
#ifndef DG_SERVER_API_REQUEST_OPTIONS_H
#define DG_SERVER_API_REQUEST_OPTIONS_H

#include "server/models/models.h"
#include "server/api/request_fields.h"

/* The keys, for a list of allowed ones. */
#define DG_REQUEST_OPTIONS                                                                         \
    "beam_size", "length_penalty", "n_best", "scores", "alignments", "target_prefix", "sampling",  \
        "format"

struct dg_request_options {
    struct dg_search search; /* as dg_translate_options wants it */
    bool scores;             /* say the score of the whole text */
    bool alignments;         /* say which words came from which */
    enum dg_format format;   /* what line ends and marks in the text mean */
    /* what the first sentence's answer begins with, or NULL; borrowed from the object, for planning
     * only */
    const char *target_prefix;
};

/* Read them from an object; what is absent gets its default. Errors as in request_fields.h. */
int dg_request_options_read(const struct dg_json *o, const char *where,
    const struct dg_request_limits *limits, struct dg_request_options *out, struct dg_error *err);

/* What the planner is to be told for a pair of a model (borrowed); DG_EINVAL when the model cannot
 * do it. */
int dg_request_options_plan(const struct dg_request_options *options, const struct dg_served *model,
    const char *const pair[2], struct dg_translate_options *out, struct dg_error *err);

#endif
