/* Which waiting sentences join the engine now: pure policy. No clock, no lock, no I/O, so that
 * tables and a simulator can test it; time is an argument. Any thread. */
#ifndef DG_SERVER_BATCHER_H
#define DG_SERVER_BATCHER_H

#include <stddef.h>
#include <stdint.h>

/* A waiting sentence as the policy sees it. */
struct dg_waiting {
    uint64_t task;                    /* sentences of one request have the same */
    uint64_t arrived_ns, deadline_ns; /* deadline 0 = none */
    uint32_t source_tokens, max_target_tokens;
    uint32_t rows; /* hypotheses that it keeps alive */
};

/* What the engine has room for. It knows its memory better, and may still refuse what was picked.
 */
struct dg_room {
    uint32_t rows, sentences;
    uint32_t rows_live; /* advancing now */
};

struct dg_batch_policy {
    /* Most source pieces encoded in one step beside running sentences, which wait for them (0 = no
     * bound). A sentence that alone is over the bound still joins, alone. */
    uint32_t encode_tokens;
};

/* Pick from waiting[n], in order of arrival, what joins now: indices into picked[n], ascending;
 * returns how many. First come, first served: a sentence that does not fit holds back those behind
 * it, so that none starves. */
size_t dg_batcher_pick(const struct dg_batch_policy *policy, const struct dg_waiting *waiting,
    size_t n, const struct dg_room *room, uint64_t now_ns, size_t *picked);

#endif
