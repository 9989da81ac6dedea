/* Decides which sentences join the engine and which advance in the next step: pure policy. No
 * clock, no lock, no I/O, so that tables and a simulator can test it; time enters through ranks.
 * One thread at a time.
 *
 * Every sentence has a rank; the smallest goes first, and a rank does not change while its sentence
 * waits (except by a duplicate, lane.h):
 *   rank = arrival + patience (patience.h), at most arrival + patience_max; bulk sentences rank
 *   after all interactive ones.
 * So within a class the shorter half of the requests goes first, in order of arrival, and the
 * longer half follows, also in order of arrival; a request's later sentences rank after its first,
 * and a large request does not block small ones; a sentence that arrives later than another's rank
 * goes after it, and none waits for later arrivals for longer than patience_max. In one of
 * bulk_every steps bulk sentences go before interactive ones: they slow down, but never starve.
 *
 * The engine holds more sentences than advance: in a step the first of the ranking do, until `knee`
 * rows are full, as many as make a row cheap (dg_models_step_rows); the others pause and keep their
 * memory. A waiting sentence joins when it would advance at once.
 *
 * Patient sentences (bulk ones, and those of large requests of several sentences) fill the step
 * only up to `patient_knee`, half as many rows, while one that is not patient is live or waits. A
 * step of half the rows takes little more than half the time, and a short sentence still needs as
 * many steps, so its answer comes sooner; beside large requests that have waited for long, and so
 * go first, it finds room at once.
 *
 * Example. The knee is 8 rows; every sentence has 4. Live: A (interactive, rank 2) and D (bulk,
 * rank 1). Waiting: B (interactive, rank 1), C (interactive, rank 9) and E (bulk, rank 3).
 *   An ordinary step, interactive first: the ranking is B A C D E. B has no rows before it and
 * joins; C has 8 rows before it and does not fit under the knee; nor does E, after D. B and A
 * advance, D pauses. A bulk step: the ranking is D E B A C. E has D's 4 rows before it and joins; B
 * has 8 and does not. D and E advance, A pauses.
 *
 * Reservations. An interactive sentence that found no room reserves whatever becomes free: until it
 * has joined, no bulk sentence joins, not even in a bulk step. A bulk step follows right after,
 * before another sentence may reserve room; and if no bulk sentence is live, it lasts until one has
 * joined. So with room for very few sentences the classes take turns, and neither waits forever. */
#ifndef DG_SERVER_SCHEDULE_BATCHER_H
#define DG_SERVER_SCHEDULE_BATCHER_H

#include "server/schedule/entry.h"

#include <stddef.h>

/* A person at a screen waits for the answer, or a job that has time. */
enum dg_class { DG_CLASS_INTERACTIVE, DG_CLASS_BULK, DG_CLASSES };

enum dg_batching {
    /* as described above */
    DG_BATCHING_CONTINUOUS,
    /* For comparison. Ranks are arrival times, classes and knee are ignored, all live sentences
     * advance. FIFO is refilled before every step; STATIC lets none join before the batch has
     * ended, and finished rows are dropped. */
    DG_BATCHING_FIFO,
    DG_BATCHING_STATIC,
};

struct dg_batch_policy {
    enum dg_batching batching;
    /* Most source tokens to encode in a step with running sentences, which have to wait for it (0 =
     * no bound). A sentence that exceeds the bound by itself still joins, alone. */
    uint32_t encode_tokens;
    /* one step in this many is a bulk step; 0: bulk sentences only advance when there is room */
    uint32_t bulk_every;
    /* 0 = no bound */
    uint64_t patience_max_ns;
    /* How much later a sentence ranks for each unit of its client's recent use (usage.h), and the
     * maximum of that delay. */
    uint64_t usage_ns, usage_max_ns;
};

extern const struct dg_batch_policy dg_batch_policy_default;

/* The rank of a sentence. patience_ns: from dg_patience_ns; capped at patience_max_ns. */
uint64_t dg_batcher_rank(const struct dg_batch_policy *policy, enum dg_class class,
    uint64_t arrived_ns, uint64_t patience_ns);

/* The class that a rank belongs to. */
enum dg_class dg_batcher_class(uint64_t rank);

/* The engine's free room, and the next step. The engine knows its memory better, and may still
 * refuse a picked sentence. */
struct dg_room {
    uint32_t rows, sentences;
    /* cache blocks; only for sentences that say how many they need */
    uint32_t blocks;
    /* rows that may advance together (dg_models_step_rows) */
    uint32_t knee;
    /* number of the next step; says whether it is a bulk step */
    uint64_t step;
    /* knee of patient sentences while another one is there; 0: as `knee` */
    uint32_t patient_knee;
};

/* Set the knees for this many rows a step (dg_models_step_rows); 0: all of the engine's, on a
 * device whose steps cost the same however many rows they have. */
void dg_room_set_knee(struct dg_room *room, uint32_t step_rows, uint32_t all);

/* The sentences that wait for one model. */
struct dg_batcher {
    struct dg_batch_policy policy;
    struct dg_heap heaps[DG_CLASSES];
    /* interactive sentences that are patient; the others are in heaps */
    struct dg_heap patient;
    /* freed capacity goes to this sentence first; NULL: to none */
    struct dg_entry *reserved_for;
    /* a bulk step came while room was reserved, or found none: it is still due */
    bool bulk_due;
};

void dg_batcher_free(struct dg_batcher *b); /* a zeroed one is empty */
/* Reserve room for `more` additional entries; false: out of memory. */
bool dg_batcher_reserve(struct dg_batcher *b, size_t more);
/* O(log n). Room was reserved; rank (node.key), source_tokens, rows and refused are set. */
void dg_batcher_add(struct dg_batcher *b, struct dg_entry *e);
void dg_batcher_remove(struct dg_batcher *b, struct dg_entry *e);
size_t dg_batcher_count(const struct dg_batcher *b);
/* The sentence with the smallest rank, which stays; NULL: none waits. */
struct dg_entry *dg_batcher_first(const struct dg_batcher *b);

/* Remove the sentences that join now, up to cap, beside live[n] (ascending by rank); returns how
 * many. If nothing is live, the first joins even without room: there will never be more, and the
 * engine says why. */
size_t dg_batcher_pick(struct dg_batcher *b, const struct dg_room *room,
    struct dg_entry *const *live, size_t n, struct dg_entry **out, size_t cap);

/* Set runs of live[n] (ascending by rank); at least one runs. */
void dg_batcher_run(const struct dg_batch_policy *policy, const struct dg_room *room,
    struct dg_entry *const *live, size_t n);

#endif
