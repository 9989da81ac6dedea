#include "translate/search/read_back.h"

#include "translate/encode/encode.h"

#include <math.h>
#include <string.h>

/* The longest first; equally long ones stay in their order. */
static void sort_by_length(struct dg_part_hyp *hyps, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        const struct dg_part_hyp h = hyps[i];
        uint32_t at = i;
        for (; at > 0 && hyps[at - 1].n < h.n; at--)
            hyps[at] = hyps[at - 1];
        hyps[at] = h;
    }
}

/* Tokens of an answer without </s>. */
static uint32_t length(const struct dg_job *j, const struct dg_part_hyp *h)
{
    return h->n && h->ids[h->n - 1] == dg_model_config(j->t->model)->eos ? h->n - 1 : h->n;
}

/* Make answer `at` a source, framed as dg_part_frame frames one; false: it is empty or too long. */
static bool frame(const struct dg_job *j, struct dg_reading *g)
{
    const struct dg_config *c = dg_model_config(j->t->model);
    const struct dg_bundle *b = j->t->bundle;
    const struct dg_part_hyp *h = &g->hyps[g->at];
    const uint32_t n = length(j, h);
    g->n_ids =
        dg_source_tags(j->t, dg_bundle_source_tag(b, j->to), dg_bundle_tag(b, j->from), g->ids);
    memcpy(g->ids + g->n_ids, h->ids, n * sizeof *g->ids);
    g->n_ids += n;
    if (c->source_eos)
        g->ids[g->n_ids++] = c->eos;
    return n > 0 && g->n_ids <= dg_job_most_source_tokens(j);
}

/* Go to the next answer that can be a source; false: there is none. */
static bool next(const struct dg_job *j, struct dg_reading *g)
{
    while (g->at < g->n && !frame(j, g))
        g->at++;
    return g->at < g->n;
}

/* Make the sentence a target. */
static int force(
    struct dg_job *j, const struct dg_part *p, struct dg_reading *g, struct dg_error *err)
{
    const char *lead = dg_bundle_target_tag(j->t->bundle, j->from);
    g->sentence = dg_arena_array(&j->arena, p->n_tokens + 2, sizeof *g->sentence);
    if (!g->sentence)
        return DG_JOB_NO_MEMORY(err);
    if (lead)
        g->sentence[g->n_sentence++] = dg_tokenizer_id(j->t->target, lead);
    g->n_lead = g->n_sentence;
    for (size_t i = 0; i < p->n_tokens; i++)
        g->sentence[g->n_sentence++] = p->tokens[i].id;
    g->sentence[g->n_sentence++] = dg_model_config(j->t->model)->eos;
    return 0;
}

int dg_read_back_begin(
    struct dg_job *j, struct dg_part *p, struct dg_part_hyp *hyps, uint32_t n, struct dg_error *err)
{
    uint32_t longest = 0;
    if (n < 2)
        return 0;
    struct dg_reading *g = dg_arena_alloc(&j->arena, sizeof *g);
    if (!g)
        return DG_JOB_NO_MEMORY(err);
    *g = (struct dg_reading){.hyps = hyps, .n = n};
    for (uint32_t i = 0; i < n; i++)
        longest = hyps[i].n > longest ? hyps[i].n : longest;
    g->ids = dg_arena_array(&j->arena, longest + 3, sizeof *g->ids);
    if (!g->ids)
        return DG_JOB_NO_MEMORY(err);
    int rc = force(j, p, g, err);
    sort_by_length(hyps, n);
    if (!rc && g->n_sentence <= dg_model_max_positions(j->t->model) && next(j, g))
        p->reading = g;
    return rc;
}

void dg_read_back_sentence(const struct dg_job *j, const struct dg_part *p, struct dg_sentence *out)
{
    const struct dg_reading *g = p->reading;
    out->source = g->ids;
    out->n_source = g->n_ids;
    out->search.alpha = -1;
    out->prefix = g->sentence;
    out->n_prefix = g->n_sentence;
    out->n_lead = g->n_lead;
    out->forced = true;
    out->whole_vocabulary = j->back_whole_vocabulary;
}

bool dg_read_back_take(const struct dg_job *j, struct dg_part *p, const struct dg_result *r)
{
    struct dg_reading *g = p->reading;
    if (r->n_hyps && r->hyps[0].n)
        g->hyps[g->at].back = r->hyps[0].logprob / r->hyps[0].n;
    g->at++;
    return next(j, g);
}
