/* A request: a list of items (item.h), each a chain of hops, answered by one reply, by events or by
 * lines. All endpoints share this code: an endpoint adds only a reader that fills in a request, a
 * function that plans an item, and a writer (struct dg_request_kind). Deadline, cancellation,
 * memory and reply are handled here for all of them. Knows no dialect of JSON.
 *
 *   open -> start -> (reader) -> items: plan -> queue -> ... -> over -> (writer) -> reply
 *
 * HTTP threads open and start a request, and send the reply. Planner threads (planner.h) do all
 * work on its texts, one step of a request at a time: they read its body, plan its item and write
 * its answer. A direct request, whose body is at most DG_DIRECT_BYTES and names no glossary, is
 * read, planned and written by the HTTP thread itself, which waits only for workers: handing over
 * so little work costs more than doing it. A request that is not fed enters the queue whole or is
 * refused. The feeder (feeder.h) submits the items of a fed one as the queue has room. */
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

#define DG_MAX_LOW_WAITING 8     /* items that may wait for the low-priority thread */
#define DG_MAX_FILES_WAITING 128 /* items that may wait for the thread for files */

struct dg_stream;
struct dg_streamed;
struct dg_visit;

#define DG_OVER (1u << 31)

enum dg_request_shape { DG_SHAPE_WHOLE, DG_SHAPE_EVENTS, DG_SHAPE_LINES };

/* What a request costs, as reported in "usage". */
struct dg_usage {
    size_t source_characters, source_tokens, target_tokens;
};

/* An endpoint's own functions. Static storage. */
struct dg_request_kind {
    /* may translate through a third language (pivot) */
    bool may_pivot;
    /* all its requests are fed: see dg_request.fed */
    bool fed;
    /* needs no model: written as soon as it is read, and its work is done */
    bool at_once;
    /* Plan one text of an item for a model; NULL: translate it. */
    int (*plan)(const struct dg_item *item, size_t text, const struct dg_translator *t,
        const struct dg_text *read, const struct dg_translate_options *o, struct dg_job **out,
        struct dg_error *err);
    /* Optional: check whether the item's model supports its options. */
    int (*check)(const struct dg_item *item, struct dg_error *err);
    /* Instead of plan: all of the item's work, on the low-priority thread; without write, it also
     * writes the answer. Work that takes long and has a large answer, so that few such requests may
     * be open at once. */
    int (*work)(struct dg_item *item, struct dg_error *err);
    /* Its work is brief and its answer small, but it may wait for a file: it is done on the thread
     * for files, and any number may be open. */
    bool brief;
    /* Append an item's answer to item->answer; called only if the item has one. The arena is
     * scratch memory. */
    int (*write)(struct dg_item *item, struct dg_arena *arena, struct dg_error *err);
    /* Fed requests only. write_error appends an item's error to its answer; write_whole writes the
     * whole reply from all answers, and may fail. */
    void (*write_error)(struct dg_item *item, const struct dg_error *err);
    int (*write_whole)(const struct dg_request *r, struct dg_buffer *out, struct dg_error *err);
    /* Events only. write_sentence writes one sentence; write_end the last event, with the answer
     * (err NULL) or an error. */
    void (*write_sentence)(const struct dg_streamed *s, struct dg_buffer *out);
    void (*write_end)(
        const struct dg_item *item, const struct dg_error *err, struct dg_buffer *out);
    /* Fed requests without an exchange (x is NULL), which are started with dg_feeder_add: called on
     * the feeder's thread when all items are over; ownership of r returns to the callee. */
    void (*over)(struct dg_request *r);
    /* Write an error as the reply. */
    void (*fail)(struct dg_http_reply *r, const struct dg_error *err);
};

struct dg_request_glossary {
    struct dg_request_glossary *next;
    /* one of the two is set; referenced */
    struct dg_glossary *glossary;
    struct dg_glossary_set *named;
};

struct dg_request {
    const struct dg_request_kind *kind;
    struct dg_app *app;
    struct dg_http_exchange *x;
    /* held until the request is freed; NULL without an exchange, and in tests without a client */
    struct dg_visit *visit;
    /* Reads the exchange's body into the following fields, or sets an error. Planner thread; HTTP
     * thread if direct. */
    int (*read)(struct dg_request *r, struct dg_error *err);
    /* private data of read */
    const void *reader;
    /* header X-Request-Timeout, or NULL; in the arena */
    const char *timeout_header;
    /* header Accept asks for lines */
    bool wants_lines;
    /* size of the body */
    size_t bytes;
    /* the HTTP thread does all text work */
    bool direct;
    /* the feeder submits each item by itself, as the queue has room; set from the kind, and by
     * dg_mixed_make for several items */
    bool fed;
    /* from dg_gate_client; without an exchange, set by the caller */
    uint64_t client;
    /* from dg_gate_owner; without an exchange, set by the caller */
    char owner[DG_MEMORY_OWNER];
    /* bytes taken from the budget, without those of its items; only the thread of its current step
     */
    size_t taken;
    /* part of `taken` that is set aside for answers not yet written */
    size_t reserved;
    /* The input. Arrays are allocated in the arena. */
    struct dg_arena arena;
    /* the parsed body, from which texts and strings are borrowed */
    struct dg_json *body;
    /* private data of the reader for its writer: the body may be freed by then */
    const void *extra;
    /* [n] */
    struct dg_item *items;
    /* those that the items' options use; in the arena */
    struct dg_request_glossary *glossaries;
    size_t n;
    enum dg_request_shape shape;
    enum dg_class priority;
    int64_t timeout_ms;
    /* Its progress. */
    /* when the body arrived, plus the time spent waiting for models; 0: no exchange */
    uint64_t came_ns;
    uint64_t deadline_ns, planned_ns;
    /* posted to the planner */
    struct dg_work reading, planning, writing;
    /* posted to run at the deadline */
    struct dg_work late;
    /* time spent reading the body */
    uint64_t work_ns;
    /* the planner counts its bytes as waiting */
    atomic_bool waits;
    /* it may wait for its models to be opened */
    atomic_bool opens;
    /* its tasks are there, for threads that end it early; cleared with lock held */
    atomic_bool prepared;
    /* what remains to be written: a count of new sentences, plus DG_OVER once nothing more will
     * come */
    atomic_uint news;
    /* how many of its start and its end are outstanding; at 0 the request is woken */
    atomic_int to_come;
    /* enum dg_outcome: why it must end early. Any thread */
    atomic_int ended;
    /* references: the exchange's, and that of `late` while it is posted */
    atomic_uint refs;
    /* for the writers of fed requests */
    struct dg_error err;
    /* events only */
    struct dg_stream *stream;
    /* a sentence of the stream was shown */
    bool shown;
    /* sum over all answered items */
    struct dg_usage usage;
    /* fed: characters of the answered items, as charged to the key */
    int64_t answered;
    /* The written reply: a body, or an error (failed.code != DG_OK). */
    struct dg_buffer reply;
    struct dg_error failed;
    /* header values; "": none */
    char timing[200], version[200];
    pthread_mutex_t lock;
    /* guarded by lock */
    /* events written but not yet taken */
    struct dg_buffer events;
    /* characters of all sentences written as events so far */
    int64_t streamed;
    /* The feeder's: see feeder.c. */
    struct dg_request *next;
    size_t n_started, n_over;
    bool cut;
    /* started, but not in the queue yet */
    struct dg_item *ahead;
    bool ahead_planned;
    struct dg_buffer lines;
};

/* Open a request without items, for a reader to fill in. The caller owns it until it is started. */
int dg_request_open(struct dg_app *app, struct dg_http_exchange *x,
    const struct dg_request_kind *kind, struct dg_request **out, struct dg_error *err);
void dg_request_free(struct dg_request *r); /* not started; NULL is fine */
/* For readers: keep a glossary of its items, which is released with the request, or at once on
 * failure. DG_ENOMEM. */
int dg_request_keep_glossary_take(
    struct dg_request *r, struct dg_glossary *g, struct dg_error *err);
/* For readers: set the options' glossary to the server's of that name, or to its owner's with that
 * id. DG_ENOTFOUND, DG_ENOMEM. */
int dg_request_name_glossary(struct dg_request *r, const char *name,
    struct dg_request_options *options, struct dg_error *err);
/* For readers: allocate n zeroed items. DG_ENOMEM. */
int dg_request_make_items(struct dg_request *r, size_t n, struct dg_error *err);

/* For readers: set the deadline as soon as the timeout is known, before reading a body that may
 * take longer. Not for a direct request, whose deadline is set later. */
void dg_request_set_timeout(struct dg_request *r, int64_t timeout_ms);

/* The body has arrived: admit the request by its size, have it read, and reply, now or later. The
 * caller has set read, and timeout_ms to the longest allowed. Takes ownership of r. HTTP thread. */
void dg_request_start_take(struct dg_request *r);

/* End the request early, unless it has ended: the client disconnected, or the deadline passed. Any
 * thread. */
void dg_request_end(struct dg_request *r, enum dg_outcome why);
/* Check whether work on its texts should go on. DG_ECANCELED or DG_ETIMEOUT: the request has ended,
 * or the server is stopping. */
int dg_request_check(const struct dg_request *r, struct dg_error *err);
/* The same as a callback; request is a struct dg_request. */
int dg_request_check_any(const void *request, struct dg_error *err);
/* Submit an item's task to the queue; when the task is over, the item goes on to its next hop or
 * ends. DG_EAGAIN: no room. Any thread. */
int dg_request_submit(struct dg_item *item, struct dg_error *err);
/* Have a stream's newly finished sentences written. Any thread, before the request is over. */
void dg_request_news(struct dg_request *r);
/* Only writing is left: have it done, and reply. Any thread, once. */
void dg_request_over(struct dg_request *r);
/* Write an item's result to its answer. DG_OK: the item has an answer; otherwise its error, which
 * only fed items write. Planner thread or feeder; HTTP thread if direct. */
int dg_request_settle(struct dg_item *item, struct dg_error *err);

#endif
