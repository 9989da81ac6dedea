/* Shows an item's sentences as they finish: which ones were shown, and where each one is in the
 * translation, which is known once all before it are finished. With a pivot, these are the second
 * hop's sentences. One thread at a time, unless stated otherwise. */
#ifndef DG_SERVER_REQUEST_STREAM_H
#define DG_SERVER_REQUEST_STREAM_H

#include "server/request/item.h"

struct dg_stream;

/* A sentence to show. */
struct dg_streamed {
    size_t text, index;
    /* its target span is set only if placed */
    struct dg_answer_sentence sentence;
    bool placed;
    /* [len], borrowed from the job */
    const char *translation;
    size_t len;
};

/* Nothing is shown until dg_stream_plan, when the item's last hop is planned, before `at` is set.
 */
int dg_stream_open(struct dg_stream **out, struct dg_error *err);
int dg_stream_plan(struct dg_stream *s, const struct dg_item *item, struct dg_error *err);
void dg_stream_free(struct dg_stream *s); /* NULL is fine */

/* Write the newly finished sentences in the order of the texts; true: there were some. */
bool dg_stream_show(struct dg_stream *s, struct dg_item *item,
    void (*show)(const struct dg_streamed *, struct dg_buffer *), struct dg_buffer *out);
/* True: there was no memory for a sentence, which is shown the next time. */
bool dg_stream_lost(const struct dg_stream *s);
/* Source characters of the sentences shown. With a pivot, several sentences may come from the same
 * source sentence, which counts once. */
size_t dg_stream_characters(const struct dg_stream *s);

#endif
