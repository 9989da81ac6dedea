/* The work of one hop of an item in queue and workers: its sentences as entries, a countdown, and
 * how it ended. The owner opens it, submits it to the queue, and frees it after done was called.
 * Any thread, as each function says. */
#ifndef DG_SERVER_SCHEDULE_TASK_H
#define DG_SERVER_SCHEDULE_TASK_H

#include "base/error.h"
#include "server/schedule/batcher.h"
#include "server/models/models.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum dg_outcome {
    DG_TASK_OK,      /* running, or every sentence was answered */
    DG_TASK_GONE,    /* the client hung up */
    DG_TASK_LATE,    /* its deadline passed (enforced in server/request/request.c) */
    DG_TASK_STOPPED, /* the server stops */
    DG_TASK_FAILED,  /* `error` says why */
};

/* When an entry reached each stage. */
struct dg_entry_times {
    uint64_t admitted_ns, encoded_ns, finished_ns;
};

struct dg_task {
    /* referenced */
    struct dg_served *model;
    /* [n_entries] */
    struct dg_entry *entries;
    size_t n_entries;
    /* enum dg_class; set between opening and submitting, as are the fields up to arg except begun
     */
    uint8_t class;
    /* number of its client (usage.h) */
    uint64_t client;
    /* when its request arrived, if earlier than the submission; 0: at the submission */
    uint64_t came_ns;
    /* Waits for as long as it takes: its reply has begun, or other parts of its request follow or
     * are answered already. */
    bool patient;
    /* The queue's, under its lock: entries that went to a worker, when it was first refused for
     * lack of room (0: never), and whether it waits beside the bound. */
    size_t begun;
    uint64_t refused_ns;
    bool large;
    /* Optional: an entry has its answer. Called from a worker's thread with no lock held, once an
     * entry and before done; never for entries without an answer. Two workers may call it at once,
     * for different entries of one task. Other sentences of a job may be accepted meanwhile: hold
     * the task's lock to read the job. It may still be called, once an entry, shortly after the
     * task has ended early. It must be short, as it holds up the worker, and must not free the
     * task. */
    void (*progress)(void *arg);
    /* Called once, from the thread that ends the last entry; may free the task. */
    void (*done)(void *arg);
    /* argument of both */
    void *arg;
    atomic_int outcome;
    pthread_mutex_t lock;
    /* guarded by lock until done */
    /* entries not over */
    size_t n_left;
    uint64_t submitted_ns, first_admitted_ns, last_finished_ns;
    /* the longest of any entry */
    uint64_t queue_ns, encode_ns;
    struct dg_error error;
};

/* Open a task with all sentences of jobs[n] (borrowed) for a model (referenced by the task), except
 * those whose answers are in the model's cache, which are accepted at once. It may have no entries.
 * DG_ENOMEM. */
int dg_task_open(struct dg_served *model, struct dg_job *const *jobs, size_t n,
    struct dg_task **out, struct dg_error *err);
void dg_task_free(struct dg_task *t); /* NULL is fine; not while entries are queued or live */

/* True if both ask for exactly the same: model, tokens, options. Then one answer serves both, bit
 * for bit. */
bool dg_entry_same(const struct dg_entry *a, const struct dg_entry *b);

/* End it early: the first outcome stays, err (may be NULL) with it. Entries still have to be
 * settled. */
void dg_task_end(struct dg_task *t, enum dg_outcome outcome, const struct dg_error *err);
/* True if it has ended early: its entries are to be dropped. */
bool dg_task_over(const struct dg_task *t);

/* Accept an entry's answer, and on success call progress. True: settle the entry afterwards. False:
 * nothing was kept, and the sentence must be admitted once more (see dg_job_accept). */
bool dg_task_accept(
    const struct dg_entry *e, const struct dg_result *r, const struct dg_entry_times *times);
/* Count an entry as over, answered or dropped. The caller must not touch the task afterwards: done
 * may free it. */
void dg_task_settle(struct dg_task *t);

#endif
