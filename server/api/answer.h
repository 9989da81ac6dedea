/* Translations as the API writes them, for every route that gives any. A new part of an answer is
 * a line in dg_answer_translation or dg_answer_sentence. Any thread. */
#ifndef DG_SERVER_API_ANSWER_H
#define DG_SERVER_API_ANSWER_H

#include "server/metrics.h"
#include "server/api/request_options.h"

/* One translation object; NULL when memory is out. pair: the codes as the model writes them. */
struct dg_json *dg_answer_translation(const struct dg_served *model, const char *const pair[2],
    const struct dg_request_options *options, const struct dg_answers *a);
/* One member of its "sentences". */
struct dg_json *dg_answer_sentence(const struct dg_answer_sentence *s);
/* [begin, end] */
struct dg_json *dg_answer_span(size_t begin, size_t end);
/* The names of the bits set. */
struct dg_json *dg_answer_flags(unsigned flags);

/* "usage" of a whole answer. */
struct dg_usage {
    size_t source_characters, source_tokens, target_tokens;
};
void dg_usage_add(struct dg_usage *u, const struct dg_answers *a);
struct dg_json *dg_usage_write(const struct dg_usage *u);

/* Count an answer in the metrics, once. */
void dg_answer_count(
    struct dg_metrics *m, const char *const pair[2], const struct dg_answers *answers);

#endif
