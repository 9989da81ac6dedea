/* One sentence as it passes through the queue and an engine. The queue, the batcher and a worker
 * use the same struct in turn; each field says who owns it, and until when. Equal sentences that
 * wait at the same time are duplicates: the first of them is queued and admitted, the others are
 * linked to it, and all get its answer. Plain data; one thread at a time, its owner's (with the
 * queue's lock while it waits, its worker's while it is live). */
#ifndef DG_SERVER_SCHEDULE_ENTRY_H
#define DG_SERVER_SCHEDULE_ENTRY_H

#include "server/schedule/heap.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_task;
struct dg_job;

struct dg_entry {
    /* First member, so that the batcher gets from a node to its entry. In a heap while it waits;
     * its key is the sentence's rank (dg_batcher_rank), which only changes when a duplicate brings
     * a better one (dg_lane_enter). */
    struct dg_heap_node node;

    /* Const once submitted. */
    struct dg_task *task;
    /* borrowed */
    struct dg_job *job;
    /* index of the sentence in its job */
    uint32_t index;
    uint32_t source_tokens;
    /* hypotheses that it keeps alive */
    uint32_t rows;
    /* cache blocks; 0: only the engine knows */
    uint32_t blocks;
    /* hash; equal for equal sentences with equal options; 0: has no duplicates */
    uint64_t key;

    /* The next duplicate. Duplicates belong to the owner of the first one, queue or worker. */
    struct dg_entry *next;

    /* Its request has several sentences and more work than usual, or is bulk. Only changes when a
     * duplicate that is not patient joins it (dg_lane_enter). */
    bool patient;

    /* While it waits: the first of its duplicates, perhaps itself; NULL: it does not wait. */
    struct dg_entry *first;
    /* While it waits: its cost in the queue's bound, and the class that it is counted in. */
    uint32_t counts;
    uint8_t counts_class;
    /* While it waits: the next in its bucket of dg_duplicates. */
    struct dg_entry *same_key;
    /* It was its turn, but there was no room for it. */
    bool refused;
    /* The batcher's: freed capacity goes to this sentence first. */
    bool reserved;

    /* While it is live: the worker's. dg_batcher_run sets `runs` for the next step. */
    bool runs, paused;
    /* its id in the engine */
    uint32_t id;
    uint64_t admitted_ns, encoded_ns;
};

/* Work, as ranks count it: source tokens x rows. */
static inline uint64_t dg_entry_work(const struct dg_entry *e)
{
    return (uint64_t)e->source_tokens * e->rows;
}

/* Makes e the first of its duplicates in place of `from`, which leaves: e takes over its rank and
 * what the batcher and the worker know about it. */
static inline void dg_entry_succeed(struct dg_entry *e, const struct dg_entry *from)
{
    e->node.key = from->node.key;
    e->node.turn = from->node.turn;
    e->patient = from->patient;
    e->refused = from->refused;
    e->reserved = from->reserved;
    e->runs = from->runs;
    e->paused = from->paused;
    e->id = from->id;
    e->admitted_ns = from->admitted_ns;
    e->encoded_ns = from->encoded_ns;
}

#endif
