#include "server/request/call_stream.h"

#include "base/clock.h"
#include "server/api/answer.h"
#include "server/access/gate.h"
#include "server/request/pivot.h"
#include "server/http/reply.h"
#include "server/metrics.h"

#include <stdlib.h>

#define UNSENT SIZE_MAX

struct part {
    size_t characters;               /* of its translation; UNSENT: not sent yet */
    size_t source_begin, source_end; /* as was sent */
};

/* One text. A sentence's place in the translation is known when all before it are done. */
struct text {
    struct part *parts;            /* [n] */
    size_t n, n_front;             /* all below n_front are sent */
    size_t source_end, target_end; /* where the last of these ends in both texts */
};

struct dg_call_stream {
    struct text *texts; /* [n] */
    size_t n;
    bool any; /* sentence was sent */
};

int dg_call_stream_plan(
    struct dg_call_stream *s, struct dg_job *const *jobs, size_t n_jobs, struct dg_error *err)
{
    s->texts = calloc(n_jobs, sizeof *s->texts);
    if (!s->texts)
        return dg_error_set(err, DG_ENOMEM, "no memory for a stream of %zu texts", n_jobs);
    for (; s->n < n_jobs; s->n++) {
        struct text *t = &s->texts[s->n];
        size_t n = dg_job_parts(jobs[s->n]);
        t->parts = malloc((n > 0 ? n : 1) * sizeof *t->parts);
        if (!t->parts)
            return dg_error_set(err, DG_ENOMEM, "no memory for a stream of %zu sentences", n);
        for (t->n = 0; t->n < n; t->n++)
            t->parts[t->n].characters = UNSENT;
    }
    return DG_OK;
}

int dg_call_stream_open(struct dg_call *c, struct dg_error *err)
{
    c->stream = calloc(1, sizeof *c->stream);
    if (!c->stream)
        return dg_error_set(err, DG_ENOMEM, "no memory for a stream");
    return c->pivot ? DG_OK : dg_call_stream_plan(c->stream, c->jobs, c->n_jobs, err);
}

void dg_call_stream_free(struct dg_call_stream *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        free(s->texts[i].parts);
    free(s->texts);
    free(s);
}

/* JSON has no raw line breaks, so that one data line holds it. The value is freed. */
static void write_event(const char *name, struct dg_json *value, struct dg_buffer *out)
{
    dg_buffer_addf(out, "event: %s\ndata: ", name);
    if (!value || dg_json_write(value, 0, out) != DG_OK)
        out->failed = true;
    dg_buffer_adds(out, "\n\n");
    dg_json_free(value);
}

/* The front moves over a part that ends at source_end; its place in the translation. */
static struct dg_json *move_front(struct text *t, const struct dg_finished_part *p)
{
    size_t begin = t->target_end + (p->source_begin - t->source_end);
    t->source_end = p->source_end;
    t->target_end = begin + p->characters;
    t->n_front++;
    return dg_answer_span(begin, t->target_end);
}

static void write_sentence(struct dg_call *c, size_t text, size_t i,
    const struct dg_finished_part *p, struct dg_buffer *out)
{
    struct text *t = &c->stream->texts[text];
    struct dg_json *o = dg_json_new_object();
    struct dg_answer_sentence s = {.source_begin = p->source_begin,
        .source_end = p->source_end,
        .score = p->score,
        .flags = p->flags};
    if (c->pivot)
        dg_pivot_sentence(c->pivot, text, &s);
    dg_json_set_int(o, "text_index", (int64_t)text);
    dg_json_set_int(o, "sentence_index", (int64_t)i);
    dg_json_set_take(o, "source", dg_answer_span(s.source_begin, s.source_end));
    if (i == t->n_front)
        dg_json_set_take(o, "target", move_front(t, p));
    dg_json_set_take(o, "text", dg_json_new_string(p->text, p->len));
    dg_json_set_real(o, "score", s.score);
    dg_json_set_take(o, "flags", dg_answer_flags(s.flags));
    write_event("sentence", o, out);
    t->parts[i] = (struct part){p->characters, s.source_begin, s.source_end};
}

/* Parts that were sent early and now have all others before them: the front passes them. */
static void pass_sent(struct text *t, struct dg_job *job)
{
    struct dg_finished_part p;
    while (t->n_front < t->n && t->parts[t->n_front].characters != UNSENT &&
           dg_job_finish_part(job, t->n_front, &p, NULL) == DG_OK)
        dg_json_free(move_front(t, &p));
}

static void write_text(struct dg_call *c, size_t text, struct dg_buffer *out)
{
    struct text *t = &c->stream->texts[text];
    struct dg_job *job = c->jobs[text];
    struct dg_finished_part p;
    for (size_t i = t->n_front; i < t->n; i++) {
        pass_sent(t, job);
        if (t->parts[i].characters == UNSENT && dg_job_finish_part(job, i, &p, NULL) == DG_OK)
            write_sentence(c, text, i, &p, out);
    }
}

static void write_sentences(struct dg_call *c, struct dg_buffer *out)
{
    struct dg_call_stream *s = c->stream;
    size_t before = out->len;
    pthread_mutex_lock(&c->task->lock); /* workers accept other sentences of these jobs meanwhile */
    for (size_t i = 0; i < s->n; i++)
        write_text(c, i, out);
    pthread_mutex_unlock(&c->task->lock);
    if (!s->any && out->len > before)
        dg_metrics_observe(c->app->metrics, DG_TIME_FIRST, 0,
            (double)(dg_clock_ns() - dg_http_request(c->x)->handled_ns) / 1e9);
    s->any = s->any || out->len > before;
}

/* Characters of the texts whose translations were sent. Through a pivot several sentences may come
 * from one: it counts once. */
static size_t sent_characters(const struct dg_call_stream *s)
{
    size_t sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t end = 0; /* of what is counted */
        for (size_t k = 0; k < s->texts[i].n; k++) {
            const struct part *p = &s->texts[i].parts[k];
            if (p->characters == UNSENT || p->source_end <= end)
                continue;
            sum += p->source_end - (p->source_begin > end ? p->source_begin : end);
            end = p->source_end;
        }
    }
    return sum;
}

void dg_call_stream_write(struct dg_call *c, bool last, struct dg_buffer *out)
{
    struct dg_json *body = NULL;
    struct dg_error err = {0};
    if (!c->pivot || dg_pivot_exchanged(c->pivot))
        write_sentences(c, out);
    if (!last)
        return;
    if (dg_call_result(c, &body, &err) == DG_OK) {
        write_event("done", body, out);
    } else {
        write_event("error", dg_reply_error_json(&err), out);
        dg_http_set_outcome(c->x, dg_reply_status(&err));
        dg_gate_answered(c->x, (int64_t)sent_characters(c->stream));
    }
}

void dg_call_stream_late(struct dg_call *c, struct dg_buffer *out)
{
    struct dg_error err = {0};
    dg_error_set(&err, DG_ETIMEOUT, "the request's deadline passed");
    write_event("error", dg_reply_error_json(&err), out);
    dg_http_set_outcome(c->x, dg_reply_status(&err));
    dg_gate_answered(c->x, (int64_t)sent_characters(c->stream));
}
