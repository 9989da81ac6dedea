/* Answers of the engine kept for sentences that come again. The key is exact: model version, ids,
 * terms and every search option; so an answer from here is, bit for bit, the one that the engine
 * would give. Bounded in bytes; the least recently used goes first. Pure data structure: knows no
 * queue and no job. Any thread. */
#ifndef DG_SERVER_SCHEDULE_ANSWER_CACHE_H
#define DG_SERVER_SCHEDULE_ANSWER_CACHE_H

#include "base/error.h"
#include "model/engine/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_answer_cache;

int dg_answer_cache_open(size_t max_bytes, struct dg_answer_cache **out, struct dg_error *err);
void dg_answer_cache_close(struct dg_answer_cache *c); /* nothing may be held; NULL is fine */

/* Room for so many bytes from now on; 0: it keeps nothing. What is over it leaves at once. */
void dg_answer_cache_resize(struct dg_answer_cache *c, size_t max_bytes);
/* Does it keep anything? c NULL: no. */
bool dg_answer_cache_is_on(const struct dg_answer_cache *c);

/* Is this a sentence whose answer may be kept: searched for, and not forced, drawn, begun for it or
 * kept from repeating itself? */
bool dg_answer_cache_takes(const struct dg_sentence *s);

/* The answer to a sentence by the model of that version, held until released; NULL when there is
 * none. Its id means nothing. */
const struct dg_result *dg_answer_cache_get(
    struct dg_answer_cache *c, const char *version, const struct dg_sentence *s);
void dg_answer_cache_release(
    struct dg_answer_cache *c, const struct dg_result *r); /* NULL is fine */

/* Keep a copy of an answer, unless it is there already or takes more than an eighth of the room. */
void dg_answer_cache_put(struct dg_answer_cache *c, const char *version,
    const struct dg_sentence *s, const struct dg_result *r);

struct dg_answer_cache_counts {
    uint64_t hits, misses, evictions;
    size_t entries, bytes, max_bytes;
};
void dg_answer_cache_count(struct dg_answer_cache *c, struct dg_answer_cache_counts *out);

#endif
