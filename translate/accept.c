/* What the engine answers, kept in the job; a second round where the first was caught in a loop or
 * said nothing. One thread at a time per job. */
#include "translate/job_internal.h"
#include "translate/loops.h"

#include <string.h>

/* Is the answer caught in a loop, and this was the first round? Then there is a second, with a
 * block that ends it. */
static bool needs_block(const struct dg_job *j, struct dg_part *p, const struct dg_hypothesis *h)
{
    struct dg_loop loop;
    if (p->block || j->forced || j->options.tokens || j->options.keep_loops ||
        !dg_loop_in_answer(p->ids, p->n_ids, h->ids, h->n, &loop))
        return false;
    p->block = dg_loop_block_order(&loop);
    p->flags |= DG_FLAG_REPETITION;
    return true;
}

/* Is the answer </s> alone, which short answers' better scores bring about? Nobody wants nothing:
 * the second round may not end at once. */
static bool needs_a_token(const struct dg_job *j, struct dg_part *p, const struct dg_hypothesis *h)
{
    if (p->not_empty || j->forced || j->options.tokens || j->options.keep_loops || h->n != 1 ||
        h->ids[0] != dg_model_config(j->t->model)->eos)
        return false;
    p->not_empty = true;
    p->flags |= DG_FLAG_LOW_CONFIDENCE;
    return true;
}

/* No candidate was possible: a target that is given has a token at -inf, as models have that never
 * say it; else weights are broken. */
static int tell_impossible(const struct dg_job *j, struct dg_error *err)
{
    const char *field = j->forced ? "translation" : j->prefix.n ? "target_prefix" : NULL;
    if (field)
        return dg_error_field(
            err, DG_EINVAL, field, "%s contains a token that this model cannot generate", field);
    return dg_error_set(err, DG_EINTERNAL, "the search ended without a hypothesis");
}

/* A copy of the engine's answer, in the job's arena. */
static struct dg_part_hyp *copy_hyps(struct dg_job *j, const struct dg_result *r)
{
    struct dg_part_hyp *hyps = dg_arena_array(&j->arena, r->n_hyps, sizeof *hyps);
    for (uint32_t h = 0; hyps && h < r->n_hyps; h++) {
        const struct dg_hypothesis *from = &r->hyps[h];
        hyps[h] = (struct dg_part_hyp){.n = from->n,
            .logprob = from->logprob,
            .score = from->score,
            .length_limited = from->length_limited};
        hyps[h].ids = dg_arena_array(&j->arena, from->n, sizeof *from->ids);
        hyps[h].token_logprob = dg_arena_array(&j->arena, from->n, sizeof *from->token_logprob);
        if (!hyps[h].ids || !hyps[h].token_logprob)
            return NULL;
        memcpy(hyps[h].ids, from->ids, from->n * sizeof *from->ids);
        memcpy(hyps[h].token_logprob, from->token_logprob, from->n * sizeof *from->token_logprob);
    }
    return hyps;
}

/* Where the tokens of the best answer came from, when the engine says so. A second round's answer
 * has nothing of the first one's: its tokens are others, and there may be more of them. */
static int keep_alignment(
    struct dg_job *j, struct dg_part *p, const struct dg_result *r, struct dg_error *err)
{
    if (!r->n_hyps)
        return 0; /* the first round's answer stays, with what is known of it */
    p->alignment = NULL;
    p->ends = NULL;
    if (!r->alignment)
        return 0;
    uint32_t n = r->hyps[0].n;
    p->alignment = dg_arena_array(&j->arena, n, sizeof *p->alignment);
    if (!p->alignment)
        return DG_JOB_NO_MEMORY(err);
    memcpy(p->alignment, r->alignment, n * sizeof *p->alignment);
    if ((j->options.alignments || p->n_marks) &&
        !(p->ends = dg_arena_array(&j->arena, n, sizeof *p->ends)))
        return DG_JOB_NO_MEMORY(err);
    return 0;
}

int dg_job_accept(struct dg_job *j, size_t i, const struct dg_result *r, struct dg_error *err)
{
    struct dg_part *p = &j->parts[j->sentences[i]];
    /* There need not be as many ways to go on as were asked for. */
    if (!r->n_hyps && !j->n_alternatives && !p->first_hyps)
        return tell_impossible(j, err);
    bool again = r->n_hyps && (needs_block(j, p, &r->hyps[0]) || needs_a_token(j, p, &r->hyps[0]));
    struct dg_part_hyp *hyps = copy_hyps(j, r);
    int rc = hyps ? keep_alignment(j, p, r, err) : DG_JOB_NO_MEMORY(err);
    if (rc)
        return rc;
    p->steps += r->steps;
    if (again) {
        p->first_hyps = hyps;
        p->n_first_hyps = r->n_hyps;
        return DG_EAGAIN;
    }
    bool none = !r->n_hyps && p->first_hyps; /* the prefix may leave a second round no way */
    p->hyps = none ? p->first_hyps : hyps;
    p->n_hyps = none ? p->n_first_hyps : r->n_hyps;
    j->n_accepted++;
    return 0;
}
