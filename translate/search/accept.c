/* Takes the engine's answers into the job, and asks for a second round where the first answer loops
 * or is empty. One thread at a time per job. */
#include "translate/job/job.h"
#include "translate/search/loops.h"

#include <string.h>

/* True if another round must be searched, because the answer is caught in a loop or, as the better
 * scores of short answers can cause, is </s> alone. The search may then not loop, or not end at
 * once. */
static bool needs_a_round(const struct dg_job *j, struct dg_part *p, const struct dg_hypothesis *h)
{
    struct dg_loop loop;
    if (j->n_forced || j->options.tokens || j->options.keep_loops)
        return false;
    if (!p->block && dg_loop_in_answer(p->ids, p->n_ids, h->ids, h->n, &loop)) {
        p->block = dg_loop_block_order(&loop);
        p->flags |= DG_FLAG_REPETITION;
        return true;
    }
    if (!p->not_empty && h->n == 1 && h->ids[0] == dg_model_config(j->t->model)->eos) {
        p->not_empty = true;
        p->flags |= DG_FLAG_LOW_CONFIDENCE;
        return true;
    }
    return false;
}

/* Reports that the search found no candidate: the given target or prefix has a token with
 * log-probability -inf (some models never generate certain tokens), or the weights are broken. */
static int tell_impossible(const struct dg_job *j, const struct dg_part *p, struct dg_error *err)
{
    const struct dg_prefix *prefix = dg_part_prefix(j, p);
    const char *field = NULL;
    if (j->n_forced)
        field = "translation";
    else if (prefix->n || prefix->len)
        field = "target_prefix";
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

/* Keeps the best answer's alignment, if the engine returned one. A second round's alignment
 * replaces the first one's: the tokens differ, and there may be more of them. */
static int keep_alignment(
    struct dg_job *j, struct dg_part *p, const struct dg_result *r, struct dg_error *err)
{
    if (!r->n_hyps)
        return 0; /* the first round's answer stays, and its alignment with it */
    p->alignment = NULL;
    p->ends = NULL;
    if (!r->alignment)
        return 0;
    uint32_t n = r->hyps[0].n;
    p->alignment = dg_arena_array(&j->arena, n, sizeof *p->alignment);
    if (!p->alignment)
        return DG_JOB_NO_MEMORY(err);
    memcpy(p->alignment, r->alignment, n * sizeof *p->alignment);
    if ((j->options.alignments || p->shown.n_marks) &&
        !(p->ends = dg_arena_array(&j->arena, n, sizeof *p->ends)))
        return DG_JOB_NO_MEMORY(err);
    return 0;
}

int dg_job_accept(struct dg_job *j, size_t i, const struct dg_result *r, struct dg_error *err)
{
    struct dg_part *p = &j->parts[j->sentences[i]];
    /* There may be fewer continuations than were requested. */
    if (!r->n_hyps && !j->n_alternatives && !p->first_hyps)
        return tell_impossible(j, p, err);
    bool again = r->n_hyps && needs_a_round(j, p, &r->hyps[0]);
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
    /* A second round may find nothing that fits the prefix. */
    bool none = !r->n_hyps && p->first_hyps;
    p->hyps = none ? p->first_hyps : hyps;
    p->n_hyps = none ? p->n_first_hyps : r->n_hyps;
    j->n_accepted++;
    return 0;
}
