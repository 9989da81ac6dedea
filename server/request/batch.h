/* Requests of many texts at once. One thread, the feeder, does a batch's work outside the engine:
 * it plans items when the queue has room for them, one of each batch in turn, so that a batch need
 * not fit into the queue; it writes answers as items finish. No HTTP. Any thread, except as
 * said. */
#ifndef DG_SERVER_REQUEST_BATCH_H
#define DG_SERVER_REQUEST_BATCH_H

#include "base/buffer.h"
#include "server/app.h"
#include "server/api/request_batch.h"

struct dg_feeder;
struct dg_batch;

int dg_feeder_open(struct dg_app *app, struct dg_feeder **out, struct dg_error *err);
/* No batch may be left: the queue is stopped and each was told its end. NULL is fine. */
void dg_feeder_close(struct dg_feeder *f);
/* Batches that are under way. */
size_t dg_feeder_batches(struct dg_feeder *f);

struct dg_batch_options {
    uint64_t deadline_ns;
    /* An item's answer is a line, in the order in which they finish; else one JSON object with all,
     * in the order of the request. */
    bool lines;
    void (*ready)(void *arg); /* lines are there to be taken. Feeder's thread; short */
    void (*done)(void *arg);  /* once, last: the batch may be freed from here on. Feeder's thread */
    void *arg;
};

/* request is taken over, also on failure. */
int dg_batch_open(struct dg_feeder *f, struct dg_v1_batch *request,
    const struct dg_batch_options *options, struct dg_batch **out, struct dg_error *err);
void dg_batch_free(struct dg_batch *b); /* before its start or after done; NULL is fine */

/* Hand it to the feeder. DG_EAGAIN: too many batches are under way; done will not be called. */
int dg_batch_start(struct dg_batch *b, struct dg_error *err);
/* Nobody will read the answers: drop what is left, soon. */
void dg_batch_cancel(struct dg_batch *b);

/* Move the lines that are ready to out; after done they are all. */
void dg_batch_take_lines(struct dg_batch *b, struct dg_buffer *out);
/* Characters of the texts that were translated, after done: of all items but those whose answer is
 * an error. */
int64_t dg_batch_answered(const struct dg_batch *b);
/* Append the whole answer, after done. */
void dg_batch_write(struct dg_batch *b, struct dg_buffer *out);

#endif
