/* Who joins the engine and who advances in the next step: pure policy. No clock, no lock, no I/O,
 * so that tables and a simulator can test it; time comes in through ranks. One thread at a time.
 *
 * Every sentence has a rank; the smaller goes first, and it never changes while it waits:
 *   rank = arrival + patience x (pieces x rows of its request up to and including it), at most
 *   arrival + patience_max; bulk ones stand behind all interactive ones.
 * So inside a class the shortest work goes first; a request's later sentences stand further back
 * than its first, and a large request does not block small ones; whoever arrives later than a
 * sentence's rank is behind it, and nobody waits for late-comers for longer than patience_max. In
 * one step of bulk_every bulk ones go before interactive ones: they slow down, they never starve.
 *
 * The engine holds more sentences than advance: in a step the first of the ranking do, until `knee`
 * rows are full, which is as many as make a row cheap; the others keep their place in memory and
 * wait. Whoever waits outside joins when it would advance at once.
 *
 * An interactive sentence that found no room keeps what becomes free: until it has joined, bulk
 * ones do not, not even in their step. That comes right after, before another one may keep room,
 * and where none of them lives it lasts until one has joined: with room for very few sentences they
 * take turns, neither class ever waits for good. */
#ifndef DG_SERVER_SCHEDULE_BATCHER_H
#define DG_SERVER_SCHEDULE_BATCHER_H

#include "server/schedule/heap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who waits for it: somebody at a screen, or a job that has time. */
enum dg_class { DG_CLASS_INTERACTIVE, DG_CLASS_BULK, DG_CLASSES };

enum dg_batching {
    DG_BATCHING_CONTINUOUS, /* as above */
    /* For comparison. Ranks are arrivals, classes and knee are not looked at, all advance. */
    DG_BATCHING_FIFO,   /* refilled before every step */
    DG_BATCHING_STATIC, /* nobody joins before the batch has ended; finished rows are dropped */
};

struct dg_batch_policy {
    enum dg_batching batching;
    /* Most source pieces encoded in one step beside running sentences, which wait for them (0 = no
     * bound). A sentence that alone is over the bound still joins, alone. */
    uint32_t encode_tokens;
    uint32_t bulk_every;      /* 0: bulk ones advance when there is room only */
    uint64_t patience_ns;     /* for each piece and row */
    uint64_t patience_max_ns; /* 0 = no bound */
};

extern const struct dg_batch_policy dg_batch_policy_default;

/* work: pieces x rows, summed over the request's sentences so far with this one. */
uint64_t dg_batcher_rank(
    const struct dg_batch_policy *policy, enum dg_class class, uint64_t arrived_ns, uint64_t work);

/* The class that a rank says. */
enum dg_class dg_batcher_class(uint64_t rank);

/* A waiting sentence, part of what its owner keeps of it. */
struct dg_waiting {
    struct dg_heap_node node; /* key: its rank */
    uint32_t tokens;          /* source pieces */
    uint32_t rows;            /* hypotheses that it keeps alive */
    uint32_t blocks;          /* of the cache; 0: the engine alone knows */
    bool refused;             /* it was its turn, and there was no room for it */
    bool keeps;               /* the batcher's own: what becomes free is to be its */
};

/* A sentence in the engine. */
struct dg_running {
    uint64_t rank;
    uint32_t rows;
    bool runs; /* dg_batcher_run's answer */
};

/* What the engine has room for, and the step to come. It knows its memory better, and may still
 * refuse what was picked. */
struct dg_room {
    uint32_t rows, sentences;
    uint32_t blocks; /* counts for those that say how many they need */
    uint32_t knee;   /* rows that are to advance together (dg_pace_rows) */
    uint64_t step;   /* number of the step to come, for bulk's share */
};

/* What waits for one model. */
struct dg_batcher {
    struct dg_batch_policy policy;
    struct dg_heap heaps[DG_CLASSES];
    uint64_t rows;             /* of all that waits */
    struct dg_waiting *keeper; /* whom room is kept for; NULL: nobody */
    bool owed;                 /* bulk's step came meanwhile, or found no room */
};

void dg_batcher_free(struct dg_batcher *b); /* a zeroed one is empty */
/* Room for so many more; false when memory is out. */
bool dg_batcher_reserve(struct dg_batcher *b, size_t more);
/* O(log n). Room was reserved; rank, tokens, rows and refused are set. */
void dg_batcher_add(struct dg_batcher *b, struct dg_waiting *w);
void dg_batcher_remove(struct dg_batcher *b, struct dg_waiting *w);
size_t dg_batcher_count(const struct dg_batcher *b);
/* The one with the smallest rank, which stays; NULL: none waits. */
struct dg_waiting *dg_batcher_first(const struct dg_batcher *b);

/* Take out who joins now, up to cap, beside live[n] (ascending by rank); returns how many. Where
 * nothing lives the first joins even without room: there will never be more, the engine says
 * why. */
size_t dg_batcher_pick(struct dg_batcher *b, const struct dg_room *room,
    const struct dg_running *live, size_t n, struct dg_waiting **out, size_t cap);

/* Set runs of live[n] (ascending by rank); at least one runs. */
void dg_batcher_run(const struct dg_batch_policy *policy, uint32_t knee, uint64_t step,
    struct dg_running *live, size_t n);

#endif
