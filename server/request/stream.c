#include "server/request/stream.h"

#include "server/request/pivot_answers.h"

#include <stdlib.h>

struct part {
    bool shown;
    /* its source span, as shown */
    size_t source_begin, source_end;
};

/* One text. */
struct text {
    /* [n] */
    struct part *parts;
    /* all below n_front are shown */
    size_t n, n_front;
    /* where the last of these ends in source and translation */
    size_t source_end, target_end;
};

struct dg_stream {
    /* [n] */
    struct text *texts;
    size_t n;
    bool lost;
};

int dg_stream_open(struct dg_stream **out, struct dg_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a stream");
}

int dg_stream_plan(struct dg_stream *s, const struct dg_item *item, struct dg_error *err)
{
    const struct dg_hop *hop = dg_item_last_hop(item);
    s->texts = calloc(item->n_texts, sizeof *s->texts);
    if (!s->texts)
        return dg_error_set(err, DG_ENOMEM, "no memory for a stream of %zu texts", item->n_texts);
    for (; s->n < item->n_texts; s->n++) {
        struct text *t = &s->texts[s->n];
        t->n = dg_job_parts(hop->jobs[s->n]);
        t->parts = calloc(t->n + 1, sizeof *t->parts);
        if (!t->parts)
            return dg_error_set(err, DG_ENOMEM, "no memory for a stream of %zu sentences", t->n);
    }
    return DG_OK;
}

void dg_stream_free(struct dg_stream *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        free(s->texts[i].parts);
    free(s->texts);
    free(s);
}

/* Moves the front past part p; returns where p begins in the translation. */
static size_t move_front(struct text *t, const struct dg_finished_part *p)
{
    size_t begin = t->target_end + (p->source_begin - t->source_end);
    t->source_end = p->source_end;
    t->target_end = begin + p->characters;
    t->n_front++;
    return begin;
}

/* Moves the front past parts that were shown early, now that all parts before them are shown. */
static void pass_shown(struct text *t, struct dg_job *job)
{
    struct dg_finished_part p;
    while (t->n_front < t->n && t->parts[t->n_front].shown &&
           dg_job_finish_part(job, t->n_front, &p, NULL) == DG_OK)
        move_front(t, &p);
}

/* A part as the client sees it; with a pivot, mapped to the client's text. */
static struct dg_streamed describe(
    const struct dg_item *item, size_t text, size_t i, const struct dg_finished_part *p)
{
    struct dg_streamed s = {.text = text, .index = i, .translation = p->text, .len = p->len};
    s.sentence = (struct dg_answer_sentence){.source_begin = p->source_begin,
        .source_end = p->source_end,
        .score = p->score,
        .confidence = p->confidence,
        .flags = p->flags};
    if (item->n_hops > 1)
        dg_pivot_answers_sentence(&item->hops[0].read[text], &s.sentence);
    return s;
}

bool dg_stream_show(struct dg_stream *s, struct dg_item *item,
    void (*show)(const struct dg_streamed *, struct dg_buffer *), struct dg_buffer *out)
{
    struct dg_hop *hop = dg_item_hop(item);
    struct dg_finished_part p;
    bool any = false;
    s->lost = false;
    if (hop != dg_item_last_hop(item))
        return false;
    pthread_mutex_lock(&hop->task->lock); /* workers accept other sentences of its jobs meanwhile */
    for (size_t text = 0; text < s->n; text++) {
        struct text *t = &s->texts[text];
        struct dg_job *job = hop->jobs[text];
        for (size_t i = t->n_front; i < t->n; i++) {
            pass_shown(t, job);
            if (t->parts[i].shown)
                continue;
            const int rc = dg_job_finish_part(job, i, &p, NULL);
            s->lost = s->lost || rc == DG_ENOMEM;
            if (rc != DG_OK)
                continue;
            struct dg_streamed one = describe(item, text, i, &p);
            one.placed = i == t->n_front;
            if (one.placed) {
                one.sentence.target_begin = move_front(t, &p);
                one.sentence.target_end = t->target_end;
            }
            show(&one, out);
            t->parts[i] = (struct part){true, one.sentence.source_begin, one.sentence.source_end};
            any = true;
        }
    }
    pthread_mutex_unlock(&hop->task->lock);
    return any;
}

bool dg_stream_lost(const struct dg_stream *s)
{
    return s->lost;
}

size_t dg_stream_characters(const struct dg_stream *s)
{
    size_t sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t end = 0; /* of the source text counted so far */
        for (size_t k = 0; k < s->texts[i].n; k++) {
            const struct part *p = &s->texts[i].parts[k];
            if (!p->shown || p->source_end <= end)
                continue;
            sum += p->source_end - (p->source_begin > end ? p->source_begin : end);
            end = p->source_end;
        }
    }
    return sum;
}
