/* Answers of the engine kept for sentences that come again. The key is exact: model version, ids
 * and every search option; so an answer from here is, bit for bit, the one that the engine would
 * give. Bounded in bytes; the least recently used goes first. Pure data structure: knows no queue
 * and no job. Any thread. */
#ifndef DG_SERVER_SCHEDULE_MEMO_H
#define DG_SERVER_SCHEDULE_MEMO_H

#include "base/error.h"
#include "model/engine/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_memo;

int dg_memo_open(size_t max_bytes, struct dg_memo **out, struct dg_error *err);
void dg_memo_close(struct dg_memo *c); /* nothing may be held; NULL is fine */

/* Is this a sentence whose answer may be kept: searched for, and not forced, drawn, begun for it or
 * kept from repeating itself? */
bool dg_memo_takes(const struct dg_sentence *s);

/* The answer to a sentence by the model of that version, held until released; NULL when there is
 * none. Its id means nothing. */
const struct dg_result *dg_memo_get(
    struct dg_memo *c, const char *version, const struct dg_sentence *s);
void dg_memo_release(struct dg_memo *c, const struct dg_result *r); /* NULL is fine */

/* Keep a copy of an answer, unless it is there already or takes more than an eighth of the room. */
void dg_memo_put(
    struct dg_memo *c, const char *version, const struct dg_sentence *s, const struct dg_result *r);

struct dg_memo_counts {
    uint64_t hits, misses, evictions;
    size_t entries, bytes, max_bytes;
};
void dg_memo_count(struct dg_memo *c, struct dg_memo_counts *out);

#endif
