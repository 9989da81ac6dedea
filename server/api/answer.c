#include "server/api/answer.h"

#include <string.h>

struct dg_json *dg_answer_span(size_t begin, size_t end)
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

struct dg_json *dg_answer_sentence(const struct dg_answer_sentence *s)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_take(o, "source", dg_answer_span(s->source_begin, s->source_end));
    dg_json_set_take(o, "target", dg_answer_span(s->target_begin, s->target_end));
    dg_json_set_real(o, "score", s->score);
    dg_json_set_take(o, "flags", dg_answer_flags(s->flags));
    return o;
}

static struct dg_json *write_n_best(const struct dg_answers *a)
{
    struct dg_json *list = dg_json_new_array();
    for (size_t i = 0; i < a->n_best; i++) {
        struct dg_json *one = dg_json_new_object();
        dg_json_set_take(one, "text", dg_json_new_string(a->best[i].text, a->best[i].len));
        dg_json_set_real(one, "score", a->best[i].score);
        dg_json_append_take(list, one);
    }
    return list;
}

/* [[source], [target]] of words, in the order of the answer. */
static struct dg_json *write_alignments(const struct dg_answers *a)
{
    struct dg_json *list = dg_json_new_array();
    for (size_t i = 0; i < a->n_alignments; i++) {
        const struct dg_answer_pair *p = &a->alignments[i];
        struct dg_json *pair = dg_json_new_array();
        dg_json_append_take(pair, dg_answer_span(p->source_begin, p->source_end));
        dg_json_append_take(pair, dg_answer_span(p->target_begin, p->target_end));
        dg_json_append_take(list, pair);
    }
    return list;
}

struct dg_json *dg_answer_translation(const struct dg_served *model, const char *const pair[2],
    const struct dg_request_options *options, const struct dg_answers *a)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_take(o, "text", dg_json_new_string(a->best[0].text, a->best[0].len));
    dg_json_set_string(o, "source", pair[0]);
    dg_json_set_string(o, "target", pair[1]);
    dg_json_set_string(o, "model", dg_bundle_name(dg_translator_bundle(model->translator)));
    if (options->scores)
        dg_json_set_real(o, "score", a->best[0].score);
    if (a->n_best > 1)
        dg_json_set_take(o, "n_best", write_n_best(a));
    if (options->alignments)
        dg_json_set_take(o, "alignments", write_alignments(a));
    struct dg_json *sentences = dg_json_new_array();
    for (size_t i = 0; i < a->n_sentences; i++)
        dg_json_append_take(sentences, dg_answer_sentence(&a->sentences[i]));
    dg_json_set_take(o, "sentences", sentences);
    return o;
}

void dg_usage_add(struct dg_usage *u, const struct dg_answers *a)
{
    u->source_characters += a->source_characters;
    u->source_tokens += a->source_tokens;
    u->target_tokens += a->target_tokens;
}

struct dg_json *dg_usage_write(const struct dg_usage *u)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "source_characters", (int64_t)u->source_characters);
    dg_json_set_int(o, "source_tokens", (int64_t)u->source_tokens);
    dg_json_set_int(o, "target_tokens", (int64_t)u->target_tokens);
    return o;
}

void dg_answer_count(
    struct dg_metrics *m, const char *const pair[2], const struct dg_answers *answers)
{
    static const struct {
        unsigned flag;
        enum dg_counter counter;
    } flags[] = {{DG_FLAG_SPLIT, DG_COUNT_SPLIT}, {DG_FLAG_LENGTH_LIMITED, DG_COUNT_LENGTH_LIMITED},
        {DG_FLAG_UNK_COPIED, DG_COUNT_UNKNOWN}, {DG_FLAG_REPETITION, DG_COUNT_REPETITION},
        {DG_FLAG_LOW_CONFIDENCE, DG_COUNT_LOW_CONFIDENCE},
        {DG_FLAG_NUMBER_MISMATCH, DG_COUNT_NUMBER_MISMATCH},
        {DG_FLAG_SOURCE_LANGUAGE_DOUBTFUL, DG_COUNT_SOURCE_LANGUAGE_DOUBTFUL}};
    unsigned label = dg_metrics_pair(m, pair[0], pair[1]);
    dg_metrics_add(m, DG_COUNT_SENTENCES, label, answers->n_sentences);
    dg_metrics_add(m, DG_COUNT_CHARACTERS, label, answers->source_characters);
    dg_metrics_add(m, DG_COUNT_SOURCE_TOKENS, 0, answers->source_tokens);
    dg_metrics_add(m, DG_COUNT_TARGET_TOKENS, 0, answers->target_tokens);
    for (size_t i = 0; i < answers->n_sentences; i++)
        for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
            dg_metrics_add(
                m, flags[f].counter, 0, (answers->sentences[i].flags & flags[f].flag) != 0);
}
