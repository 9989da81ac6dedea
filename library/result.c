/* Results of a call, read member by member. */
#include "library/internal.h"

#include <stdlib.h>
#include <string.h>

struct dragoman_results *dg_library_results(size_t n)
{
    struct dragoman_results *all = calloc(1, sizeof *all + n * sizeof *all->list);
    if (all)
        all->n = n;
    return all;
}

int dg_library_finish(struct dragoman_result *r, struct dg_error *err)
{
    return r->forced ? dg_job_finish_score(r->job, &r->scored, err)
                     : dg_job_finish(r->job, &r->answers, err);
}

size_t dragoman_results_count(const struct dragoman_results *results)
{
    return results->n;
}

const struct dragoman_result *dragoman_results_at(const struct dragoman_results *results, size_t i)
{
    return i < results->n ? &results->list[i] : NULL;
}

void dragoman_results_free(struct dragoman_results *results)
{
    for (size_t i = 0; results && i < results->n; i++)
        dg_job_free(results->list[i].job);
    free(results);
}

size_t dragoman_result_count(const struct dragoman_result *r)
{
    return r->answers.n_best;
}

const char *dragoman_result_text(const struct dragoman_result *r, size_t k, size_t *length)
{
    const struct dg_answer *a = k < r->answers.n_best ? &r->answers.best[k] : NULL;
    if (length)
        *length = a ? a->len : 0;
    return a ? a->text : NULL;
}

double dragoman_result_score(const struct dragoman_result *r, size_t k)
{
    if (r->forced)
        return k == 0 ? r->scored.total : 0;
    return k < r->answers.n_best ? r->answers.best[k].score : 0;
}

uint32_t dragoman_result_flags(const struct dragoman_result *r)
{
    return r->answers.flags;
}

size_t dragoman_result_sentences(const struct dragoman_result *r)
{
    return r->answers.n_sentences;
}

int dragoman_result_sentence(
    const struct dragoman_result *r, size_t i, struct dragoman_sentence *sentence, size_t size)
{
    if (i >= r->answers.n_sentences)
        return DRAGOMAN_EINVAL;
    const struct dg_answer_sentence *s = &r->answers.sentences[i];
    const struct dragoman_sentence known = {s->source_begin, s->source_end, s->target_begin,
        s->target_end, s->score, s->confidence, s->flags};
    memset(sentence, 0, size);
    memcpy(sentence, &known, size < sizeof known ? size : sizeof known);
    return DRAGOMAN_OK;
}

size_t dragoman_result_alignments(const struct dragoman_result *r)
{
    return r->answers.n_alignments;
}

int dragoman_result_alignment(
    const struct dragoman_result *r, size_t i, struct dragoman_alignment *alignment)
{
    if (i >= r->answers.n_alignments)
        return DRAGOMAN_EINVAL;
    const struct dg_answer_pair *p = &r->answers.alignments[i];
    *alignment =
        (struct dragoman_alignment){p->source_begin, p->source_end, p->target_begin, p->target_end};
    return DRAGOMAN_OK;
}

size_t dragoman_result_tokens(const struct dragoman_result *r)
{
    return r->scored.n;
}

const char *dragoman_result_token(const struct dragoman_result *r, size_t i, float *logprob)
{
    if (i >= r->scored.n)
        return NULL;
    if (logprob)
        *logprob = r->scored.logprob[i];
    return r->scored.tokens[i];
}

void dragoman_result_usage(
    const struct dragoman_result *r, struct dragoman_usage *usage, size_t size)
{
    struct dragoman_usage known = {r->answers.source_characters, r->answers.source_tokens,
        r->answers.target_tokens, r->answers.steps, r->answers.most_steps};
    if (r->forced)
        dg_job_tokens(r->job, &known.source_tokens, &known.target_tokens);
    memset(usage, 0, size);
    memcpy(usage, &known, size < sizeof known ? size : sizeof known);
}
