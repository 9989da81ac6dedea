/* One item of a request (request.h): texts that go through the queue together, in one hop (a model
 * for their language pair) or in two (through a third language). Its steps: plan, queue, workers,
 * the same again for a second hop, write. Its input is borrowed from the request. One thread at a
 * time, unless stated otherwise. */
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
    /* its bundle's listing, referenced */
    struct dg_listing *listing;
    /* the bundle's model, referenced; NULL until it is open */
    struct dg_served *model;
    /* source and target, in the bundle's spelling of the codes; borrowed from the listing */
    const char *pair[2];
    /* [n_texts], NULL until planned */
    struct dg_job **jobs;
    /* [n_texts] answers, for the next hop to read; last hop: NULL */
    struct dg_answers *read;
    struct dg_task *task;
};

struct dg_item {
    struct dg_request *request;
    /* index in the request's items */
    size_t index;
    /* The input. */
    /* languages, as the client wrote them */
    const char *source, *target;
    /* the source language was detected */
    bool detected;
    /* confidence of that detection, 0 to 100 */
    int confidence;
    /* [n_texts] */
    struct dg_text *texts;
    /* [n_texts] translations supplied by the client; NULL: none */
    struct dg_text *given;
    size_t n_texts;
    /* characters of texts; the same plus given ones and target_prefix */
    size_t source_characters, characters;
    struct dg_request_options options;
    /* private data of the reader for its writer */
    const void *extra;
    /* why the input is invalid; NULL: it is valid */
    const struct dg_error *wrong;
    /* Progress through the hops. */
    /* [n_hops] */
    struct dg_hop hops[DG_HOPS_MAX];
    /* 0: not planned yet */
    size_t n_hops;
    /* source and target are the same language: the item's one model does not run */
    bool same_language;
    /* index of the current hop. Any thread may read it */
    atomic_size_t at;
    /* bytes taken from the budget for its hops; the planner's while it is planned */
    size_t taken;
    /* fed: the part of `taken` that the feeder has counted */
    size_t counted;
    /* submitted, and not back with the feeder */
    bool running;
    /* the last hop has succeeded */
    bool answered;
    /* the opening of its models */
    struct dg_opening opening;
    /* posted for a kind with `work`, or by the feeder for planning */
    struct dg_work work;
    /* why its models cannot be opened, why it cannot be planned, or why its work failed */
    struct dg_error failed;
    /* link in one of the feeder's lists */
    struct dg_item *next;
    /* the written answer, once the item is over */
    struct dg_buffer answer;
};

/* Find the bundles that it needs, one for each hop, and get their models. True: the item has them,
 * or *err says why not. False: it waits for them and must not be touched until ready is called with
 * it, from any thread; then ask again. */
bool dg_item_get_models(struct dg_item *item, void (*ready)(void *item), struct dg_error *err);
/* Stop waiting for its models. True: it was waiting, and ready will not be called. Any thread. */
bool dg_item_cancel_opening(struct dg_item *item);
/* Plan its first hop; its models are open. DG_OK: its task is ready to be submitted (a kind with
 * `work` has no task). Otherwise the item's error, or DG_EAGAIN, DG_ENOMEM. */
int dg_item_plan(struct dg_item *item, struct dg_error *err);
/* True if the current hop's task, which is over, succeeded and another hop follows. */
bool dg_item_goes_on(const struct dg_item *item);
/* Plan the next hop from the answers of the current one; codes as for dg_item_plan. */
int dg_item_plan_next(struct dg_item *item, struct dg_error *err);

/* Returns why the item ended without an answer; DG_OK: it has one. */
int dg_item_outcome(const struct dg_item *item, struct dg_error *err);
/* Returns the answers to text i. Their spans, flags, scores and counts refer to the client's text,
 * never to an intermediate translation. Borrowed from the item and the arena. */
int dg_item_answers(struct dg_item *item, size_t i, struct dg_arena *arena, struct dg_answers *out,
    struct dg_error *err);
/* Count a text's answers, which were written, in the metrics of translations. */
void dg_item_count(const struct dg_item *item, const struct dg_answers *answers);
/* Count an item of a batch by how it ended. gone: its client left before. */
void dg_item_count_outcome(const struct dg_item *item, bool gone, const struct dg_error *err);

/* Bytes of its texts. */
size_t dg_item_bytes(const struct dg_item *item);
/* Take memory from the budget for the hops planned so far, including their answers. DG_EAGAIN:
 * other requests use it. */
int dg_item_take(struct dg_item *item, struct dg_error *err);
/* The current hop, and the last one. */
struct dg_hop *dg_item_hop(struct dg_item *item);
const struct dg_hop *dg_item_last_hop(const struct dg_item *item);
/* Free models, jobs, tasks and answer, and return their memory to the budget. */
void dg_item_release(struct dg_item *item);

#endif
