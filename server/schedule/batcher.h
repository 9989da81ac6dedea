/* Which sentences join the engine and which advance in the next step: pure policy. No clock, no
 * lock, no I/O, so that tables and a simulator can test it; time comes in through ranks. One thread
 * at a time.
 *
 * Every sentence has a rank; the smaller goes first, and it never changes while it waits:
 *   rank = arrival + patience (patience.h), at most arrival + patience_max; bulk ones rank after
 *   all interactive ones.
 * So inside a class the shorter half of the requests goes first, by arrival, and the longer half
 * follows, by arrival too; a request's later sentences rank after its first, and a large request
 * does not block small ones; a sentence that arrives later than another's rank goes after it, and
 * none waits for late-comers for longer than patience_max. In one step of bulk_every bulk ones go
 * before interactive ones: they slow down, they never starve.
 *
 * The engine holds more sentences than advance: in a step the first of the ranking do, until `knee`
 * rows are full, which is as many as make a row cheap (dg_models_step_rows); the others keep their
 * place in memory and pause. A waiting sentence joins when it would advance at once.
 *
 * Patient sentences, those of large requests of several sentences and bulk ones, fill the step only
 * up to `patient_knee`, half as many rows, while one that is not patient lives or waits. A step of
 * half the rows takes little more than half the time, and a short sentence has its answer in as
 * many steps; beside large requests that have waited for long, and so go first, it finds room at
 * once.
 *
 * Example. The knee is 8 rows; every sentence has 4. Live: A (interactive, rank 2) and D (bulk,
 * rank 1). Waiting: B (interactive, rank 1), C (interactive, rank 9) and E (bulk, rank 3).
 *   An ordinary step, interactive first: the ranking is B A C D E. B has no row before it and
 * joins; C has 8 rows before it and does not fit under the knee; nor does E, after D. B and A
 * advance, D pauses. Bulk's step: the ranking is D E B A C. E has D's 4 rows before it and joins; B
 * has 8 and does not. D and E advance, A pauses.
 *
 * Reservations. An interactive sentence that found no room reserves what becomes free: until it has
 * joined, bulk ones do not, not even in their step. Bulk's step comes right after, before another
 * sentence may reserve room; and where no bulk one lives it lasts until one has joined. With room
 * for very few sentences the classes take turns, neither waits for ever. */
#ifndef DG_SERVER_SCHEDULE_BATCHER_H
#define DG_SERVER_SCHEDULE_BATCHER_H

#include "server/schedule/entry.h"

#include <stddef.h>

/* A person at a screen waits for the answer, or a job that has time. */
enum dg_class { DG_CLASS_INTERACTIVE, DG_CLASS_BULK, DG_CLASSES };

enum dg_batching {
    /* as above */
    DG_BATCHING_CONTINUOUS,
    /* For comparison. Ranks are arrivals, classes and knee are not looked at, all advance. FIFO is
     * refilled before every step; STATIC lets none join before the batch has ended, and finished
     * rows are dropped. */
    DG_BATCHING_FIFO,
    DG_BATCHING_STATIC,
};

struct dg_batch_policy {
    enum dg_batching batching;
    /* Most source tokens encoded in one step beside running sentences, which wait for them (0 = no
     * bound). A sentence that alone is over the bound still joins, alone. */
    uint32_t encode_tokens;
    /* 0: bulk ones advance when there is room only */
    uint32_t bulk_every;
    /* 0 = no bound */
    uint64_t patience_max_ns;
    /* How much later a sentence ranks for each unit of its client's recent use (usage.h); the most
     * in all. */
    uint64_t usage_ns, usage_max_ns;
};

extern const struct dg_batch_policy dg_batch_policy_default;

/* patience_ns: as patience.h says; more than patience_max does not count. */
uint64_t dg_batcher_rank(const struct dg_batch_policy *policy, enum dg_class class,
    uint64_t arrived_ns, uint64_t patience_ns);

/* The class that a rank says. */
enum dg_class dg_batcher_class(uint64_t rank);

/* What the engine has room for, and the step to come. It knows its memory better, and may still
 * refuse what was picked. */
struct dg_room {
    uint32_t rows, sentences;
    /* counts for those that say how many they need */
    uint32_t blocks;
    /* rows that are to advance together (dg_models_step_rows) */
    uint32_t knee;
    /* number of the step to come, for bulk's share */
    uint64_t step;
    /* the same for patient ones while another is there; 0: as many */
    uint32_t patient_knee;
};

/* Knees for so many rows a step (dg_models_step_rows); 0: all of the engine's, on a device whose
 * steps cost the same however many rows they have. */
void dg_room_set_knee(struct dg_room *room, uint32_t step_rows, uint32_t all);

/* The sentences that wait for one model. */
struct dg_batcher {
    struct dg_batch_policy policy;
    struct dg_heap heaps[DG_CLASSES];
    /* of the interactive ones those that are patient */
    struct dg_heap patient;
    /* freed capacity goes to this sentence first; NULL: to none */
    struct dg_entry *reserved_for;
    /* bulk's step came while room was reserved, or found none */
    bool bulk_due;
};

void dg_batcher_free(struct dg_batcher *b); /* a zeroed one is empty */
/* Room for so many more; false when memory is out. */
bool dg_batcher_reserve(struct dg_batcher *b, size_t more);
/* O(log n). Room was reserved; rank (node.key), source_tokens, rows and refused are set. */
void dg_batcher_add(struct dg_batcher *b, struct dg_entry *e);
void dg_batcher_remove(struct dg_batcher *b, struct dg_entry *e);
size_t dg_batcher_count(const struct dg_batcher *b);
/* The one with the smallest rank, which stays; NULL: none waits. */
struct dg_entry *dg_batcher_first(const struct dg_batcher *b);

/* Take out those that join now, up to cap, beside live[n] (ascending by rank); returns how many.
 * Where nothing lives the first joins even without room: there will never be more, the engine says
 * why. */
size_t dg_batcher_pick(struct dg_batcher *b, const struct dg_room *room,
    struct dg_entry *const *live, size_t n, struct dg_entry **out, size_t cap);

/* Set runs of live[n] (ascending by rank); at least one runs. */
void dg_batcher_run(const struct dg_batch_policy *policy, const struct dg_room *room,
    struct dg_entry *const *live, size_t n);

#endif
