/* Takes the engine's answers into the job, and asks for a second round where the first answer
 * loops, is empty or has wrong numbers. One thread at a time per job. */
#include "translate/accept/second_look.h"
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

/* [hyps[k].n] the source positions that answer k is aligned with; NULL: the engine did not return
 * them. */
static const int32_t *sources_of(const struct dg_result *r, uint32_t k)
{
    return r->alignment && k > 0 ? r->hyps[k].sources : r->alignment;
}

/* Keeps the alignment of answer k, if the engine returned one. A second round's alignment replaces
 * the first one's: the tokens differ, and there may be more of them. */
static int keep_alignment(struct dg_job *j, struct dg_part *p, const struct dg_result *r,
    uint32_t k, struct dg_error *err)
{
    if (!r->n_hyps)
        return 0; /* the first round's answer stays, and its alignment with it */
    p->alignment = NULL;
    p->ends = NULL;
    const int32_t *sources = sources_of(r, k);
    if (!sources)
        return 0;
    const uint32_t n = r->hyps[k].n;
    int32_t *alignment = dg_arena_array(&j->arena, n, sizeof *alignment);
    if (!alignment)
        return DG_JOB_NO_MEMORY(err);
    memcpy(alignment, sources, n * sizeof *alignment);
    p->alignment = alignment;
    if ((j->options.alignments || p->shown.n_marks) &&
        !(p->ends = dg_arena_array(&j->arena, n, sizeof *p->ends)))
        return DG_JOB_NO_MEMORY(err);
    return 0;
}

/* Takes the best answer of a second look that has no fault and no loop; if there is none, the first
 * round's stays. */
static int accept_look(struct dg_job *j, struct dg_part *p, const struct dg_result *r,
    struct dg_part_hyp *hyps, struct dg_error *err)
{
    int rc = 0;
    p->hyps = p->first_hyps;
    p->n_hyps = 1;
    for (uint32_t k = 0; k < r->n_hyps; k++) {
        const struct dg_hypothesis *h = &r->hyps[k];
        struct dg_loop loop;
        bool faulty = dg_loop_in_answer(p->ids, p->n_ids, h->ids, h->n, &loop);
        if (!faulty)
            rc = dg_look_finds_fault(j, p, &hyps[k], sources_of(r, k), &faulty, err);
        if (rc || !faulty) {
            p->hyps = &hyps[k];
            return rc ? rc : keep_alignment(j, p, r, k, err);
        }
    }
    return 0;
}

/* Sets *again if these are the first round's answers and a second round may find a better one. */
static int find_need(struct dg_job *j, struct dg_part *p, const struct dg_result *r,
    struct dg_part_hyp *hyps, bool *again, struct dg_error *err)
{
    *again = r->n_hyps && needs_a_round(j, p, &r->hyps[0]);
    if (*again || !r->n_hyps || p->first_hyps || !dg_part_may_look(j, p))
        return 0;
    int rc = dg_look_finds_fault(j, p, hyps, p->alignment, again, err);
    p->looks = *again;
    return rc;
}

int dg_job_accept(struct dg_job *j, size_t i, const struct dg_result *r, struct dg_error *err)
{
    struct dg_part *p = &j->parts[j->sentences[i]];
    /* There may be fewer continuations than were requested. */
    if (!r->n_hyps && !j->n_alternatives && !p->first_hyps)
        return tell_impossible(j, p, err);
    struct dg_part_hyp *hyps = copy_hyps(j, r);
    bool again = false;
    int rc = hyps ? 0 : DG_JOB_NO_MEMORY(err);
    if (!rc && p->looks)
        rc = accept_look(j, p, r, hyps, err);
    else if (!rc && !(rc = keep_alignment(j, p, r, 0, err)))
        rc = find_need(j, p, r, hyps, &again, err);
    if (rc)
        return rc;
    p->steps += r->steps;
    if (again) {
        p->first_hyps = hyps;
        p->n_first_hyps = r->n_hyps;
        return DG_EAGAIN;
    }
    if (!p->looks) { /* a second round may find nothing that fits the prefix */
        const bool none = !r->n_hyps && p->first_hyps;
        p->hyps = none ? p->first_hyps : hyps;
        p->n_hyps = none ? p->n_first_hyps : r->n_hyps;
    }
    j->n_accepted++;
    return 0;
}
