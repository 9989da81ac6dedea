/* Two models one after the other, through a third language, for pairs that no model has. The second
 * hop is planned from the first one's answers, by a thread of its own: workers run engines and
 * must not be held up by text. A call (call.h) with a pivot looks like any other one from outside:
 * one deadline, one reply. */
#ifndef DG_SERVER_REQUEST_PIVOT_H
#define DG_SERVER_REQUEST_PIVOT_H

#include "server/request/call.h"

/* The thread, and the calls between their hops. */
struct dg_pivots;

int dg_pivots_open(struct dg_app *app, struct dg_pivots **out, struct dg_error *err);
/* Once the workers have ended: the calls that are left are woken as stopped, and so is whoever
 * comes later. NULL is fine. */
void dg_pivots_stop(struct dg_pivots *p);
/* The same; there is no call any more. NULL is fine. */
void dg_pivots_close(struct dg_pivots *p);

/* Options for the first hop: how to read the text and how to search, and nothing about what the
 * answer is to be. */
struct dg_request_options dg_pivot_first_options(const struct dg_request_options *options);
/* Make a call, opened for way's first model, go on to the second one, whose hold is taken over; its
 * options are for that hop. */
int dg_pivot_open_take(struct dg_call *c, struct dg_way *way, struct dg_error *err);
void dg_pivot_free(struct dg_pivot *p); /* NULL is fine */

/* A task of the call is done. True: the second hop is on its way, and the call is not to be woken
 * yet. Any thread; the call must not be touched after true. */
bool dg_pivot_next(struct dg_call *c);
/* The client is gone: end whatever runs. Any thread. */
void dg_pivot_cancel(struct dg_call *c, enum dg_outcome outcome);

/* The answers to text i, whose spans, flags, scores and counts are to speak of the text that was
 * asked about, and not of the text between. Borrowed from the call. */
int dg_pivot_answers(struct dg_call *c, size_t i, struct dg_answers *a, struct dg_error *err);
/* For streams: is the second hop the call's now? Its sentences are those that are sent. */
bool dg_pivot_exchanged(struct dg_pivot *p);
/* A sentence of text i once that is so, as dg_pivot_answers would have it. */
void dg_pivot_sentence(const struct dg_pivot *p, size_t i, struct dg_answer_sentence *s);
/* The language between, and both models; borrowed from the call. */
const char *dg_pivot_language(const struct dg_pivot *p);
void dg_pivot_models(const struct dg_call *c, const struct dg_served *models[2]);

#endif
