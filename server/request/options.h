/* How a translation is wanted: what requests of every kind have in common. A new option is a field
 * here, a line in dg_request_options_plan and one in the table of a body (api/body_fields.c). Plain
 * data; any thread. */
#ifndef DG_SERVER_REQUEST_OPTIONS_H
#define DG_SERVER_REQUEST_OPTIONS_H

#include "server/glossaries/glossaries.h"
#include "server/models/models.h"

struct dg_request_options {
    /* as dg_translate_options wants it */
    struct dg_search search;
    /* requested number */
    uint32_t alternatives;
    /* the model's own beam grows to n_best */
    bool wide;
    /* return the score of the whole text */
    bool scores;
    /* return word alignments */
    bool alignments;
    /* what line ends and marks in the text mean */
    enum dg_format format;
    /* a plain text is one sentence */
    bool whole;
    /* how tags of HTML and XML are taken, or NULL; the request's arena's */
    const struct dg_markup *markup;
    /* beginning of the first sentence's answer, or NULL; borrowed from the request's body */
    const char *target_prefix;
    /* terms that the answer must have, or NULL; the request's */
    struct dg_glossary *glossary;
    /* the same, for every pair, from the server's own; NULL; the request's */
    struct dg_glossary_set *named_glossary;
    /* answer sentences from no translation memory */
    bool no_memory;
};

/* The same for the first hop of two: only format and search options. */
struct dg_request_options dg_request_options_first(const struct dg_request_options *options);

/* The planner's options for a pair of a model (borrowed); DG_EINVAL when the model cannot do it. */
int dg_request_options_plan(const struct dg_request_options *options, const struct dg_config *model,
    const char *const pair[2], struct dg_translate_options *out, struct dg_error *err);

#endif
