/* One item of a request (request.h): texts that go through the queue together, in one hop (a model
 * for their pair) or in two (through a third language). Its way: plan, queue, workers, perhaps plan
 * and queue again, write. Its input is borrowed from the request. One thread at a time, unless
 * stated otherwise. */
#ifndef DG_SERVER_REQUEST_ITEM_H
#define DG_SERVER_REQUEST_ITEM_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/executor.h"
#include "server/models/opening.h"
#include "server/request/options.h"
#include "server/schedule/task.h"

#define DG_HOPS_MAX 2

struct dg_request;

struct dg_text {
    /* [len]; valid UTF-8 */
    const char *s;
    size_t len;
};

struct dg_hop {
    /* of its bundle, referenced */
    struct dg_listing *listing;
    /* the same open, referenced; NULL until it is */
    struct dg_served *model;
    /* as the bundle writes the codes; borrowed from the listing */
    const char *pair[2];
    /* [n_texts], NULL until planned */
    struct dg_job **jobs;
    /* [n_texts] the answers that the next hop reads; last hop: NULL */
    struct dg_answers *read;
    struct dg_task *task;
};

struct dg_item {
    struct dg_request *request;
    /* in the request */
    size_t index;
    /* The input. */
    /* languages, as the client wrote them */
    const char *source, *target;
    /* the source was found out, */
    bool detected;
    /* as surely as this, 0 to 100 */
    int confidence;
    /* [n_texts] */
    struct dg_text *texts;
    /* [n_texts] translations that the client has; NULL: none */
    struct dg_text *given;
    size_t n_texts;
    /* of texts; with given ones and target_prefix */
    size_t source_characters, characters;
    struct dg_request_options options;
    /* the reader's, for its writer */
    const void *extra;
    /* NULL: well-formed */
    const struct dg_error *wrong;
    /* Its way. */
    /* [n_hops] */
    struct dg_hop hops[DG_HOPS_MAX];
    /* 0: not planned yet */
    size_t n_hops;
    /* of source and target: its one model is not asked */
    bool same_language;
    /* the hop under way. Any thread may read it */
    atomic_size_t at;
    /* of the budget, for its hops; the planner's while it is planned */
    size_t taken;
    /* fed: as much of it as the feeder counts */
    size_t counted;
    /* fed: in the queue or with a worker */
    bool running;
    /* the last hop is over, and well */
    bool answered;
    /* of its models */
    struct dg_opening opening;
    /* of a kind with `work`; fed: planning */
    struct dg_work work;
    /* for the feeder: it could not be planned, */
    bool unplanned;
    /* and why, malloc'd; NULL: memory was out */
    struct dg_error *failed;
    /* of a list of the feeder's */
    struct dg_item *next;
    /* once it is over */
    struct dg_buffer answer;
};

/* Find its way: which bundles' models it needs. DG_OK also if it was found before; otherwise the
 * item's error. */
int dg_item_find(struct dg_item *item, struct dg_error *err);
/* Are its models open? Then they belong to it, or *err has the reason. */
bool dg_item_has_models(struct dg_item *item, struct dg_error *err);
/* Have them opened, and ready called for the item when they are, or cannot be; true: they are by
 * now, and it is not called. It is planned then, not before. */
bool dg_item_open_models(struct dg_item *item, void (*ready)(void *item));
/* True: it waited for its models, and ready will not be called. Any thread. */
bool dg_item_cancel_opening(struct dg_item *item);
/* Plan its first hop; its models are open. DG_OK: submit its task, unless it has no entries and has
 * ended. Otherwise the item's error, or DG_EAGAIN, DG_ENOMEM. */
int dg_item_plan(struct dg_item *item, struct dg_error *err);
/* A hop's task is over, and well. Whether another hop follows. */
bool dg_item_goes_on(const struct dg_item *item);
/* Plan that hop from the answers of the one before; codes as above. */
int dg_item_plan_next(struct dg_item *item, struct dg_error *err);

/* Why it ended without an answer; DG_OK: it has one. */
int dg_item_outcome(const struct dg_item *item, struct dg_error *err);
/* The answers to text i, whose spans, flags, scores and counts speak of the text that was asked
 * about, and not of one between. Borrowed from the item and the arena. */
int dg_item_answers(struct dg_item *item, size_t i, struct dg_arena *arena, struct dg_answers *out,
    struct dg_error *err);

/* Bytes of its texts, or of those that the hop to come reads. */
size_t dg_item_bytes(const struct dg_item *item);
/* Take the memory of its hops so far, with the answers to come, from the budget. DG_EAGAIN: others
 * use it. */
int dg_item_take(struct dg_item *item, struct dg_error *err);
/* The hop under way, and the last one. */
struct dg_hop *dg_item_hop(struct dg_item *item);
const struct dg_hop *dg_item_last_hop(const struct dg_item *item);
/* Let go of models, jobs, tasks and answer; their memory is the budget's again. */
void dg_item_release(struct dg_item *item);

#endif
