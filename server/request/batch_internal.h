/* Batches as batch.c (whose turn it is), batch_item.c (one item's way) and batch_pivot.c (on from
 * one model to the next) see them. */
#ifndef DG_SERVER_REQUEST_BATCH_INTERNAL_H
#define DG_SERVER_REQUEST_BATCH_INTERNAL_H

#include "base/arena.h"
#include "server/request/batch.h"

#include <pthread.h>

/* What an item that goes through a third language (pivot.h) has besides. */
struct dg_batch_pivot {
    struct dg_served *model;   /* held: the second one, until it is the item's; then the first */
    const char *pair[2];       /* of the second hop; [0] is the language between */
    struct dg_job *first;      /* the first hop's, once it is done */
    struct dg_answers answers; /* its answers */
    struct dg_arena arena;     /* of the mapped answers */
};

/* One item on its way. The feeder's thread, but for next_over. */
struct dg_batch_entry {
    struct dg_batch *batch;
    const struct dg_batch_item *request;
    struct dg_served *model;      /* held */
    const char *pair[2];          /* as is asked for; borrowed from the models */
    struct dg_batch_pivot *pivot; /* NULL: one model translates */
    struct dg_job *job;
    struct dg_task *task;
    bool running;                        /* in the queue or with a worker */
    struct dg_batch_entry *next_between; /* of those that wait for their second hop */
    char *answer;                        /* [answer_len], once it is over */
    size_t answer_len;                   /* */
    struct dg_batch_entry *next_over;    /* guarded by the feeder's lock */
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
    int64_t answered; /* characters; anybody's after done */
    bool cut;         /* what runs was ended early */
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
    /* planned for the second hop, first come first */
    struct dg_batch_entry *between, **between_end;
};

/* Plan an item. DG_OK: it is to be submitted, or has no sentences and is over at once
 * (task->n_entries 0). Other codes: it is wrong, err says why. */
int dg_batch_entry_plan(struct dg_feeder *f, struct dg_batch_entry *e, struct dg_error *err);
/* An item's task is over, and well; is there another hop to come? */
bool dg_batch_entry_goes_on(const struct dg_batch_entry *e);
/* Plan that hop: codes as above, and the task is the new one. */
int dg_batch_entry_next(struct dg_batch_entry *e, struct dg_error *err);
/* Write the answer of an item whose task is over, or that failed with err (NULL: the task says how
 * it ended), and let go of all else. */
void dg_batch_entry_settle(
    struct dg_feeder *f, struct dg_batch_entry *e, const struct dg_error *err);

/* The item's way has two models: take the hold of the second one over. DG_EINVAL: it cannot do what
 * the item asks for. */
int dg_batch_pivot_open_take(struct dg_batch_entry *e, struct dg_way *way, struct dg_error *err);
void dg_batch_pivot_free(struct dg_batch_pivot *p); /* NULL is fine */
/* The answers are to speak of the text that was asked about. */
int dg_batch_pivot_answers(struct dg_batch_pivot *p, struct dg_answers *a, struct dg_error *err);

#endif
