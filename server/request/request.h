/* A request: a list of items (item.h), each a chain of hops, shown as one reply, as events or as
 * lines. One machine for every endpoint: an endpoint is a reader that fills in a request, a way to
 * plan an item, and a writer (struct dg_request_kind). Here are, once each, the deadline, the
 * cancellation, the memory and the reply. Knows no dialect of JSON.
 *
 *   open -> start -> (reader) -> items: plan -> queue -> ... -> over -> (writer) -> reply
 *
 * HTTP threads open and start it, and reply. All work on its texts is done by the planner's threads
 * (planner.h), one step of a request at a time: its body is read, its item planned, its answer
 * written. A direct request, whose body is at most DG_DIRECT_BYTES, is read, planned and written by
 * the HTTP thread itself, which waits only for workers: passing on so little work costs more than
 * doing it. A request that is not fed enters the queue whole or is refused. The items of a fed one
 * are put in by the feeder, as there is room. */
#ifndef DG_SERVER_REQUEST_REQUEST_H
#define DG_SERVER_REQUEST_REQUEST_H

#include "base/executor.h"
#include "base/json.h"
#include "server/app.h"
#include "server/http/http.h"
#include "server/request/item.h"
#include "server/schedule/batcher.h"
#include "store/memory.h"

#include <pthread.h>

#define DG_MAX_LOW_WAITING 8 /* works that may wait for the low-priority thread */

struct dg_stream;
struct dg_streamed;
struct dg_visit;

#define DG_OVER (1u << 31)

enum dg_request_shape { DG_SHAPE_WHOLE, DG_SHAPE_EVENTS, DG_SHAPE_LINES };

/* What requests cost, for "usage". */
struct dg_usage {
    size_t source_characters, source_tokens, target_tokens;
};

/* An endpoint's own functions. Static storage. */
struct dg_request_kind {
    /* through a third language */
    bool may_pivot;
    /* each item enters the queue by itself, as there is room */
    bool fed;
    /* needs no model: written as soon as it is read */
    bool at_once;
    /* Plan one text of an item for a model; NULL: translate it. */
    int (*plan)(const struct dg_item *item, size_t text, const struct dg_translator *t,
        const struct dg_text *read, const struct dg_translate_options *o, struct dg_job **out,
        struct dg_error *err);
    /* Optional: check whether the item's model supports its options. */
    int (*check)(const struct dg_item *item, struct dg_error *err);
    /* Instead of plan: all of the item's work, on the low-priority thread; writes the answer. */
    int (*work)(struct dg_item *item, struct dg_error *err);
    /* Append the answer of an item that has one. May use the arena. */
    int (*write)(struct dg_item *item, struct dg_arena *arena, struct dg_error *err);
    /* Fed: append an item's error to its answer; the whole reply from all answers, which may
     * fail. */
    void (*write_error)(struct dg_item *item, const struct dg_error *err);
    int (*write_whole)(const struct dg_request *r, struct dg_buffer *out, struct dg_error *err);
    /* Events: one sentence; the end, with the answer (err NULL) or an error. */
    void (*write_sentence)(const struct dg_streamed *s, struct dg_buffer *out);
    void (*write_end)(
        const struct dg_item *item, const struct dg_error *err, struct dg_buffer *out);
    /* Fed, and of no exchange (x is NULL): all its items are over, and it is the callee's again. It
     * is begun by dg_feeder_add. The feeder's thread */
    void (*over)(struct dg_request *r);
    /* The reply that is an error. */
    void (*fail)(struct dg_http_reply *r, const struct dg_error *err);
};

struct dg_request_glossary {
    struct dg_request_glossary *next;
    /* one of these */
    struct dg_glossary *glossary;
    struct dg_glossary_set *named;
};

struct dg_request {
    const struct dg_request_kind *kind;
    struct dg_app *app;
    struct dg_http_exchange *x;
    /* held; NULL: no client, in tests */
    struct dg_visit *visit;
    /* Reads the exchange's body into the following fields, or sets an error. A planner's thread. */
    int (*read)(struct dg_request *r, struct dg_error *err);
    /* read's own */
    const void *reader;
    /* X-Request-Timeout, or NULL; the arena's */
    const char *timeout_header;
    /* by its header Accept */
    bool wants_lines;
    /* of the body */
    size_t bytes;
    /* so short that HTTP threads do it all: DG_DIRECT_BYTES */
    bool direct;
    /* dg_gate_client */
    uint64_t client;
    /* dg_gate_owner; of no exchange: whose it is */
    char owner[DG_MEMORY_OWNER];
    /* of the budget, without its items; its step's thread */
    size_t taken;
    /* of these, for answers that are not there yet */
    size_t reserved;
    /* The input; arrays are the arena's. */
    struct dg_arena arena;
    /* what texts and strings are borrowed from */
    struct dg_json *body;
    /* the reader's, for its writer: the body may be gone by then */
    const void *extra;
    /* [n] */
    struct dg_item *items;
    /* that its items' options use; the arena's */
    struct dg_request_glossary *glossaries;
    size_t n;
    enum dg_request_shape shape;
    enum dg_class priority;
    int64_t timeout_ms;
    /* Its way. */
    /* with its body; 0: of no exchange */
    uint64_t came_ns;
    uint64_t deadline_ns, planned_ns;
    /* the planner's */
    struct dg_work reading, planning, writing;
    /* posted for the deadline */
    struct dg_work late;
    /* time of reading and planning */
    uint64_t work_ns;
    /* the planner counts its bytes */
    atomic_bool waits;
    /* it may wait for its models to be opened */
    atomic_bool opens;
    /* its first item's task is visible to other threads */
    atomic_bool prepared;
    /* to be written: sentences, DG_OVER: nothing else is to come */
    atomic_uint news;
    /* of its start and its end: after both it is woken */
    atomic_int to_come;
    /* enum dg_outcome: why it is to end early. Any thread */
    atomic_int ended;
    /* the exchange's, and late's while it is posted */
    atomic_uint refs;
    /* why its item failed; fed: the writer's */
    struct dg_error err;
    /* events only */
    struct dg_stream *stream;
    /* a sentence of it */
    bool shown;
    /* of all items that were answered */
    struct dg_usage usage;
    /* characters of these, as they count for a key */
    int64_t answered;
    /* The written reply: a body, or an error (failed.code != DG_OK). */
    struct dg_buffer reply;
    struct dg_error failed;
    /* headers; "": none */
    char timing[200], version[200];
    pthread_mutex_t lock;
    /* guarded by lock */
    /* items and their tasks are gone */
    bool released;
    /* written and not taken */
    struct dg_buffer events;
    /* characters of the sentences in them and before */
    int64_t streamed;
    /* The feeder's: see feeder.c. */
    struct dg_request *next;
    size_t n_started, n_over;
    bool cut;
    /* begun, and not in the queue yet */
    struct dg_item *ahead;
    bool ahead_planned;
    struct dg_buffer lines;
};

/* A request without items, to be read into; owned until started. */
int dg_request_open(struct dg_app *app, struct dg_http_exchange *x,
    const struct dg_request_kind *kind, struct dg_request **out, struct dg_error *err);
void dg_request_free(struct dg_request *r); /* not started; NULL is fine */
/* For readers: a glossary of its items, released with the request (in any case). DG_ENOMEM. */
int dg_request_keep_glossary_take(
    struct dg_request *r, struct dg_glossary *g, struct dg_error *err);
/* For readers: its items' options have the glossary of that name (of the server's files), or with
 * that id (of its owner's). DG_ENOTFOUND, DG_ENOMEM. */
int dg_request_name_glossary(struct dg_request *r, const char *name,
    struct dg_request_options *options, struct dg_error *err);
/* For readers: n zeroed items. DG_ENOMEM. */
int dg_request_make_items(struct dg_request *r, size_t n, struct dg_error *err);

/* For readers, before they read a body, which may take longer: its deadline, where that is known
 * already. Not for a direct one, which has none so early. */
void dg_request_set_timeout(struct dg_request *r, int64_t timeout_ms);

/* Its body has come: admit it by its size, have it read, and reply, now or later. read and
 * timeout_ms (the latest that there may be) are set. The request is taken over. HTTP thread. */
void dg_request_start_take(struct dg_request *r);

/* End it early, if it has not ended: the client disconnected, or the deadline passed. Any
 * thread. */
void dg_request_end(struct dg_request *r, enum dg_outcome why);
/* Is work on its texts worth going on with? DG_ECANCELED or DG_ETIMEOUT: it has ended. */
int dg_request_check(const struct dg_request *r, struct dg_error *err);
/* The same, to be called back: request is a struct dg_request. */
int dg_request_check_any(const void *request, struct dg_error *err);
/* Put an item's task into the queue; done is called when it is over. DG_EAGAIN: no room. Any
 * thread. */
int dg_request_submit(struct dg_item *item, struct dg_error *err);
/* There is something new to be shown of a stream. Any thread, before it is over. */
void dg_request_news(struct dg_request *r);
/* Nothing but writing is left of it: have that done, and reply. Any thread, once. */
void dg_request_over(struct dg_request *r);
/* Write an item's result into its answer, and count it. DG_OK: an answer; else it is an error,
 * which only fed items write. A planner's thread, or the feeder. */
int dg_request_settle(struct dg_item *item, struct dg_error *err);

#endif
