/* Translations as the API writes them, for every endpoint that gives any, and values that other
 * replies have, too. A new part of an answer is a line in dg_answer_translation or
 * dg_answer_sentence. Any thread. */
#ifndef DG_SERVER_API_ANSWER_H
#define DG_SERVER_API_ANSWER_H

#include "base/json.h"
#include "server/request/request.h"

/* Add the members of the translation of text i of an item to an object. Counts the translation in
 * the metrics and in *usage. */
int dg_answer_translation(struct dg_item *item, size_t i, struct dg_arena *arena, struct dg_json *o,
    struct dg_usage *usage, struct dg_error *err);
/* {"text","score"} */
struct dg_json *dg_answer_text(const struct dg_answer *a);
/* Add the members of one of "sentences" to an object: without "target" if it is not placed yet,
 * with "text" if that is not NULL (taken). */
void dg_answer_sentence_take(
    struct dg_json *o, const struct dg_answer_sentence *s, bool placed, struct dg_json *text);
/* The names of the bits set (enum dg_flag). */
struct dg_json *dg_answer_flags(unsigned flags);
/* Set a score or a log-probability, to four decimals. */
void dg_answer_score(struct dg_json *o, const char *key, double score);
/* Set a time, in seconds since the epoch: "2026-11-23T12:00:00" and then end, "Z" or ".000Z". */
void dg_answer_time(struct dg_json *o, const char *key, int64_t seconds, const char *end);

/* The "usage" object of an answer. */
struct dg_json *dg_usage_write(const struct dg_usage *u);
void dg_usage_add(struct dg_usage *to, const struct dg_usage *u);
/* Add a job's tokens. */
void dg_usage_add_job(struct dg_usage *to, const struct dg_job *job);
/* Append a value to an answer; it is freed. NULL: memory is out, and the answer has failed. */
void dg_answer_put_take(struct dg_json *value, struct dg_buffer *out);

#endif
