/* One request's work on its way through queue and workers: its sentences as entries, a countdown,
 * and how it ended. The owner opens it, submits it to the queue, and frees it after done was
 * called. Any thread, as each function says. */
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
    DG_TASK_LATE,    /* its deadline passed (server/request/request.c sees to it) */
    DG_TASK_STOPPED, /* the server stops */
    DG_TASK_FAILED,  /* `error` says why */
};

/* When an entry was where. */
struct dg_entry_times {
    uint64_t admitted_ns, encoded_ns, finished_ns;
};

struct dg_task {
    /* referenced */
    struct dg_served *model;
    /* [n_entries] */
    struct dg_entry *entries;
    size_t n_entries;
    /* enum dg_class; set between opening and submitting, as the rest here */
    uint8_t class;
    /* whose it is (usage.h) */
    uint64_t client;
    /* when its request came, where that was before it was submitted; 0: then */
    uint64_t came_ns;
    /* It waits for as long as it takes: more of its request is to come, or was answered already. */
    bool patient;
    /* entries that went to a worker; the queue's, under its lock */
    size_t begun;
    /* Optional: entries[entry] has its answer. From a worker's thread, no lock held, once an entry
     * and before done; never for entries that got no answer; two workers may be in it at once, for
     * different entries of one task. Other sentences of a job may be accepted meanwhile: hold the
     * task's lock to read the job. It may be called, once an entry, shortly after the task has
     * ended early, too. To be short, as it holds up the worker; it must not free the task. */
    void (*progress)(void *arg, size_t entry);
    /* Once, from the thread that ends the last entry; the task may be freed in it. */
    void (*done)(void *arg);
    /* of both */
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

/* A task of all sentences of jobs[n] (borrowed) for a model (referenced from here on), but for
 * those whose answers the model's cache has: they are accepted already. It may have no entries. */
int dg_task_open(struct dg_served *model, struct dg_job *const *jobs, size_t n,
    struct dg_task **out, struct dg_error *err);
void dg_task_free(struct dg_task *t); /* NULL is fine; not while entries are queued or live */

/* Do both ask for the very same: model, tokens, options? Then one answer is both's, bit for bit. */
bool dg_entry_same(const struct dg_entry *a, const struct dg_entry *b);

/* End it early: the first outcome stays, err (may be NULL) with it. Entries still have to be
 * settled. */
void dg_task_end(struct dg_task *t, enum dg_outcome outcome, const struct dg_error *err);
/* Has it ended early? Its entries are to be dropped then. */
bool dg_task_over(const struct dg_task *t);

/* Keep an entry's answer, and call progress when that went well. Settle it afterwards; but false:
 * nothing was kept, the sentence is to be admitted once more (see dg_job_accept). */
bool dg_task_accept(
    const struct dg_entry *e, const struct dg_result *r, const struct dg_entry_times *times);
/* n entries are over, answered or dropped. The caller forgets the task: done may free it. */
void dg_task_settle(struct dg_task *t, size_t n);

#endif
