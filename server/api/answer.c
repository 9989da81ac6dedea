#include "server/api/answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* [begin, end] */
static struct dg_json *write_span(size_t begin, size_t end)
{
    struct dg_json *a = dg_json_new_array();
    dg_json_append_take(a, dg_json_new_int((int64_t)begin));
    dg_json_append_take(a, dg_json_new_int((int64_t)end));
    return a;
}

struct dg_json *dg_answer_flags(unsigned flags)
{
    struct dg_json *list = dg_json_new_array();
    for (unsigned bit = 1; bit != 0 && bit <= flags; bit <<= 1) {
        if (flags & bit) {
            const char *name = dg_flag_name(bit);
            dg_json_append_take(list, dg_json_new_string(name, strlen(name)));
        }
    }
    return list;
}

void dg_answer_score(struct dg_json *o, const char *key, double score)
{
    dg_json_set_real(o, key, round(score * 1e4) / 1e4 + 0.0); /* never -0 */
}

void dg_answer_time(struct dg_json *o, const char *key, int64_t seconds, const char *end)
{
    char text[48];
    const time_t t = (time_t)seconds;
    struct tm utc;
    size_t n = gmtime_r(&t, &utc) ? strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc) : 0;
    snprintf(text + n, sizeof text - n, "%s", end);
    dg_json_set_string(o, key, text);
}

struct dg_json *dg_answer_text(const struct dg_answer *a)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_take(o, "text", dg_json_new_string(a->text, a->len));
    dg_answer_score(o, "score", a->score);
    return o;
}

void dg_answer_sentence_take(
    struct dg_json *o, const struct dg_answer_sentence *s, bool placed, struct dg_json *text)
{
    dg_json_set_take(o, "source", write_span(s->source_begin, s->source_end));
    if (placed)
        dg_json_set_take(o, "target", write_span(s->target_begin, s->target_end));
    if (text)
        dg_json_set_take(o, "text", text);
    dg_answer_score(o, "score", s->score);
    dg_json_set_take(o, "flags", dg_answer_flags(s->flags));
}

/* [[source], [target]] of words, in the order of the answer. */
static struct dg_json *write_alignments(const struct dg_answers *a)
{
    struct dg_json *list = dg_json_new_array();
    for (size_t i = 0; i < a->n_alignments; i++) {
        const struct dg_answer_pair *p = &a->alignments[i];
        struct dg_json *pair = dg_json_new_array();
        dg_json_append_take(pair, write_span(p->source_begin, p->source_end));
        dg_json_append_take(pair, write_span(p->target_begin, p->target_end));
        dg_json_append_take(list, pair);
    }
    return list;
}

static void write_translation(
    const struct dg_item *item, const struct dg_answers *a, struct dg_json *o)
{
    const struct dg_hop *last = dg_item_last_hop(item);
    struct dg_json *list = dg_json_new_array();
    dg_json_set_take(o, "text", dg_json_new_string(a->best[0].text, a->best[0].len));
    dg_json_set_string(o, "source", item->hops[0].pair[0]);
    dg_json_set_string(o, "target", last->pair[1]);
    if (!item->same_language)
        dg_json_set_string(o, "model", dg_bundle_name(last->listing->bundle));
    if (item->options.scores)
        dg_answer_score(o, "score", a->best[0].score);
    if (a->n_best > 1) {
        struct dg_json *best = dg_json_new_array();
        for (size_t i = 0; i < a->n_best; i++)
            dg_json_append_take(best, dg_answer_text(&a->best[i]));
        dg_json_set_take(o, "n_best", best);
    }
    if (item->options.alignments)
        dg_json_set_take(o, "alignments", write_alignments(a));
    for (size_t i = 0; i < a->n_sentences; i++) {
        struct dg_json *sentence = dg_json_new_object();
        dg_answer_sentence_take(sentence, &a->sentences[i], true, NULL);
        dg_json_append_take(list, sentence);
    }
    dg_json_set_take(o, "sentences", list);
    if (item->n_hops > 1)
        dg_json_set_string(o, "pivot", last->pair[0]);
}

int dg_answer_translation(struct dg_item *item, size_t i, struct dg_arena *arena, struct dg_json *o,
    struct dg_usage *usage, struct dg_error *err)
{
    struct dg_answers a;
    int rc = dg_item_answers(item, i, arena, &a, err);
    if (rc != DG_OK)
        return rc;
    write_translation(item, &a, o);
    if (dg_json_lost()) /* dialects read o to write their own replies */
        return dg_error_set(err, DG_ENOMEM, "no memory for an answer");
    dg_item_count(item, &a);
    dg_usage_add(usage, &(struct dg_usage){a.source_characters, a.source_tokens, a.target_tokens});
    return DG_OK;
}

void dg_usage_add(struct dg_usage *to, const struct dg_usage *u)
{
    to->source_characters += u->source_characters;
    to->source_tokens += u->source_tokens;
    to->target_tokens += u->target_tokens;
}

void dg_usage_add_job(struct dg_usage *to, const struct dg_job *job)
{
    size_t source, target;
    dg_job_tokens(job, &source, &target);
    to->source_tokens += source;
    to->target_tokens += target;
}

struct dg_json *dg_usage_write(const struct dg_usage *u)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "source_characters", (int64_t)u->source_characters);
    dg_json_set_int(o, "source_tokens", (int64_t)u->source_tokens);
    dg_json_set_int(o, "target_tokens", (int64_t)u->target_tokens);
    return o;
}

void dg_answer_put_take(struct dg_json *value, struct dg_buffer *out)
{
    if (dg_json_write(value, 0, out) != DG_OK)
        out->failed = true;
    dg_json_free(value);
}
