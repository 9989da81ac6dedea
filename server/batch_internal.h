/* Batches as batch.c (whose turn it is) and batch_item.c (one item's way) see them. */
#ifndef DG_SERVER_BATCH_INTERNAL_H
#define DG_SERVER_BATCH_INTERNAL_H

#include "server/batch.h"

#include <pthread.h>

/* One item on its way. The feeder's thread, but for next_over. */
struct dg_batch_entry {
    struct dg_batch *batch;
    const struct dg_batch_item *request;
    struct dg_served *model; /* held */
    const char *pair[2];     /* borrowed from the model */
    struct dg_job *job;
    struct dg_task *task;
    bool running;                     /* in the queue or with a worker */
    char *answer;                     /* [answer_len], once it is over */
    size_t answer_len;                /* */
    struct dg_batch_entry *next_over; /* guarded by the feeder's lock */
};

struct dg_batch {
    struct dg_feeder *feeder;
    struct dg_v1_batch request;
    struct dg_batch_options o;
    struct dg_batch_entry *entries; /* [request.n] */
    atomic_bool cancelled;
    /* The feeder's thread only. */
    struct dg_batch *next;
    size_t n_started, n_over;
    bool cut; /* what runs was ended early */
    /* guarded by the feeder's lock */
    struct dg_buffer lines; /* ready to be taken */
};

struct dg_feeder {
    struct dg_app *app;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t some;
    /* guarded by lock */
    struct dg_batch *arrived;
    struct dg_batch_entry *over; /* finished by workers, to be written */
    size_t n_batches;
    bool poked, stop;
    /* The feeder's thread only. */
    struct dg_batch *batches;
};

/* Plan an item. DG_OK: it is to be submitted, or has no sentences and is over at once
 * (task->n_entries 0). Other codes: it is wrong, err says why. */
int dg_batch_entry_plan(struct dg_feeder *f, struct dg_batch_entry *e, struct dg_error *err);
/* Write the answer of an item whose task is over, or that failed with err (NULL: the task says how
 * it ended), and let go of all else. */
void dg_batch_entry_settle(
    struct dg_feeder *f, struct dg_batch_entry *e, const struct dg_error *err);

#endif
