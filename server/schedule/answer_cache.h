/* A cache of the engine's answers, for sentences that occur again. The key is exact: model version,
 * ids, prefix, terms and every search option; so a cached answer is, bit for bit, the one that
 * the engine would give. Bounded in bytes; evicts the least recently used. Pure data structure:
 * knows no queue and no job. Any thread. */
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

/* Set the limit to this many bytes from now on; 0: cache nothing. Entries over the limit are
 * evicted at once. */
void dg_answer_cache_resize(struct dg_answer_cache *c, size_t max_bytes);
/* True if it caches anything; c NULL: false. */
bool dg_answer_cache_is_on(const struct dg_answer_cache *c);

/* True if the sentence's answer may be cached: a forced one, or one from a plain search, not
 * sampled, without a spelling, a picked first piece or a prefix beyond the pieces that only start
 * the decoder. */
bool dg_answer_cache_takes(const struct dg_sentence *s);

/* The answer to a sentence by the model of that version, referenced until released; NULL: a cache
 * miss. Its id means nothing. */
const struct dg_result *dg_answer_cache_get(
    struct dg_answer_cache *c, const char *version, const struct dg_sentence *s);
/* r NULL is fine. */
void dg_answer_cache_release(struct dg_answer_cache *c, const struct dg_result *r);

/* Cache a copy of an answer, unless it is there already or takes more than an eighth of the limit.
 */
void dg_answer_cache_put(struct dg_answer_cache *c, const char *version,
    const struct dg_sentence *s, const struct dg_result *r);

struct dg_answer_cache_counts {
    uint64_t hits, misses, evictions;
    size_t entries, bytes, max_bytes;
};
void dg_answer_cache_count(struct dg_answer_cache *c, struct dg_answer_cache_counts *out);

#endif
