/* One sentence on its way through the server, from the queue into an engine and out of it. The
 * queue, the batcher and a worker use the same struct, one after the other: each field says whose
 * it is, and until when. Equal sentences that wait at the same time are duplicates: the first of
 * them is queued and admitted, the others hang on it, and its answer is theirs. Plain data; one
 * thread at a time, its owner (the queue's lock while it waits, its worker while it is live).
 */
#ifndef DG_SERVER_SCHEDULE_ENTRY_H
#define DG_SERVER_SCHEDULE_ENTRY_H

#include "server/schedule/heap.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_task;
struct dg_job;

struct dg_entry {
    /* First, so that the batcher gets from a node to its entry. Among those that wait; its key is
     * the sentence's rank (dg_batcher_rank), which never changes while it waits or is live. */
    struct dg_heap_node node;

    /* Const once submitted. */
    struct dg_task *task;
    /* borrowed */
    struct dg_job *job;
    /* of the sentence in its job */
    uint32_t index;
    uint32_t source_tokens, max_target_tokens;
    /* hypotheses that it keeps alive */
    uint32_t rows;
    /* cache blocks; 0: the engine alone knows */
    uint32_t blocks;
    /* the same for the same sentence with the same options; 0: like no other */
    uint64_t key;

    /* Duplicates: the others; they belong to the owner of the first, queue or worker. */
    struct dg_entry *next;

    /* Const while it waits or is live: its request has several sentences and more work than is
     * usual, or is bulk. */
    bool patient;

    /* While it waits: the first of its duplicates, itself perhaps; NULL: it does not wait. */
    struct dg_entry *first;
    /* While it waits: what it counts for in the queue's bound, and in which class. */
    uint32_t counts;
    uint8_t counts_class;
    /* While it waits: the next in its bucket of dg_duplicates. */
    struct dg_entry *same_key;
    /* It was its turn, and there was no room for it. */
    bool refused;
    /* The batcher's: freed capacity goes to this sentence first. */
    bool reserved;

    /* While it is live: the worker's. `runs` is dg_batcher_run's answer for the step to come. */
    bool runs, paused;
    /* its id in the engine */
    uint32_t id;
    uint64_t admitted_ns, encoded_ns;
};

/* Tokens x rows: what the batch's order calls its work. */
static inline uint64_t dg_entry_work(const struct dg_entry *e)
{
    return (uint64_t)e->source_tokens * e->rows;
}

/* `from`, the first of its duplicates, leaves: its successor takes over its rank, and what the
 * batcher and the worker know of it. */
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
