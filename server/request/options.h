/* Translation options, which all kinds of requests share. A new option needs a field here, a line
 * in dg_request_options_plan and one in the table of body fields (api/body_fields.c). Plain data;
 * any thread. */
#ifndef DG_SERVER_REQUEST_OPTIONS_H
#define DG_SERVER_REQUEST_OPTIONS_H

#include "server/glossaries/glossaries.h"
#include "server/models/models.h"

struct dg_request_options {
    /* as in dg_translate_options */
    struct dg_search search;
    /* requested number of alternatives */
    uint32_t alternatives;
    /* a smaller beam grows to n_best */
    bool wide;
    /* choose among the answers by reading them back */
    bool rerank;
    /* with rerank: where the model cannot, answer without */
    bool rerank_if_able;
    /* return the score of the whole text */
    bool scores;
    /* return word alignments */
    bool alignments;
    /* what line ends and markup in the text mean */
    enum dg_format format;
    /* treat a plain text as one sentence */
    bool whole;
    /* how to treat HTML and XML tags, or NULL; in the request's arena */
    const struct dg_markup *markup;
    /* beginning of the first sentence's answer, or NULL; borrowed from the request's body */
    const char *target_prefix;
    /* terms that the answer must contain, or NULL; held by the request */
    struct dg_glossary *glossary;
    /* terms for several language pairs, found by name or id, or NULL; held by the request. An item
     * has those for its own languages in `glossary` once its models are known */
    struct dg_glossary_set *named_glossary;
    /* do not answer sentences from a translation memory */
    bool no_memory;
};

/* The options for the first hop of two: of search beam and alpha, and alignments, format, whole and
 * markup. */
struct dg_request_options dg_request_options_first(const struct dg_request_options *options);

/* Fill in the options for planning with a model and its language pair (borrowed). DG_EINVAL:
 * options that cannot be combined, or n_best above the beam. */
int dg_request_options_plan(const struct dg_request_options *options, const struct dg_config *model,
    const char *const pair[2], struct dg_translate_options *out, struct dg_error *err);

#endif
