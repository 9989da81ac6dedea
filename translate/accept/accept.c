/* Takes the engine's answers into the job, and asks for another round where the first answer loops,
 * is empty or has wrong numbers, or answers are read back. One thread at a time per job. */
#include "translate/accept/rerank.h"
#include "translate/accept/second_look.h"
#include "translate/job/job.h"
#include "translate/search/loops.h"
#include "translate/search/read_back.h"

#include <math.h>
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

/* [hyps[k].n] the source positions that answer k is aligned with; NULL: the engine did not return
 * them. */
static const int32_t *sources_of(const struct dg_result *r, uint32_t k)
{
    return r->alignment && k > 0 ? r->hyps[k].sources : r->alignment;
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
            .back = -INFINITY,
            .length_limited = from->length_limited};
        const int32_t *sources = sources_of(r, h);
        hyps[h].ids = dg_arena_array(&j->arena, from->n, sizeof *from->ids);
        hyps[h].token_logprob = dg_arena_array(&j->arena, from->n, sizeof *from->token_logprob);
        if (sources)
            hyps[h].sources = dg_arena_array(&j->arena, from->n, sizeof *sources);
        if (!hyps[h].ids || !hyps[h].token_logprob || (sources && !hyps[h].sources))
            return NULL;
        memcpy(hyps[h].ids, from->ids, from->n * sizeof *from->ids);
        memcpy(hyps[h].token_logprob, from->token_logprob, from->n * sizeof *from->token_logprob);
        if (sources)
            memcpy(hyps[h].sources, sources, from->n * sizeof *sources);
    }
    return hyps;
}

/* Accepts hyps[n], best first, as the sentence's answers. */
static int take(
    struct dg_job *j, struct dg_part *p, struct dg_part_hyp *hyps, uint32_t n, struct dg_error *err)
{
    if (n && hyps[0].sources && (j->options.alignments || p->shown.n_marks) &&
        !(p->ends = dg_arena_array(&j->arena, hyps[0].n, sizeof *p->ends)))
        return DG_JOB_NO_MEMORY(err);
    p->hyps = hyps;
    p->n_hyps = n;
    j->n_accepted++;
    return 0;
}

/* Takes the best answer of a second look that has no fault and no loop; if there is none, the first
 * round's. */
static int accept_look(
    struct dg_job *j, struct dg_part *p, struct dg_part_hyp *hyps, uint32_t n, struct dg_error *err)
{
    struct dg_part_hyp *best;
    int rc = dg_look_choose(j, p, hyps, n, &best, err);
    return rc ? rc : take(j, p, best ? best : p->first_hyps, 1, err);
}

/* Notes the reading of an answer. After the last one, the answers are ranked. */
static int accept_reading(
    struct dg_job *j, struct dg_part *p, const struct dg_result *r, struct dg_error *err)
{
    p->steps += r->steps;
    if (dg_read_back_take(j, p, r))
        return DG_EAGAIN;
    const struct dg_reading g = *p->reading;
    const uint32_t asked = j->options.search.n_best;
    p->reading = NULL;
    int rc = dg_rerank(j, p, g.hyps, g.n, err);
    return rc ? rc : take(j, p, g.hyps, asked < 1 ? 1 : asked < g.n ? asked : g.n, err);
}

/* Sets *again if these are the first round's answers and a second round may find a better one. */
static int find_need(struct dg_job *j, struct dg_part *p, const struct dg_result *r,
    struct dg_part_hyp *hyps, bool *again, struct dg_error *err)
{
    *again = r->n_hyps && needs_a_round(j, p, &r->hyps[0]);
    if (*again || !r->n_hyps || p->first_hyps || !dg_part_may_look(j, p))
        return 0;
    int rc = dg_look_finds_fault(j, p, hyps, again, err);
    p->looks = *again;
    return rc;
}

int dg_job_accept(struct dg_job *j, size_t i, const struct dg_result *r, struct dg_error *err)
{
    struct dg_part *p = &j->parts[j->sentences[i]];
    if (p->reading)
        return accept_reading(j, p, r, err);
    /* There may be fewer continuations than were requested. */
    if (!r->n_hyps && !j->n_alternatives && !p->first_hyps)
        return tell_impossible(j, p, err);
    struct dg_part_hyp *hyps = copy_hyps(j, r);
    uint32_t n = r->n_hyps;
    if (!hyps)
        return DG_JOB_NO_MEMORY(err);
    p->steps += r->steps;
    if (p->looks)
        return accept_look(j, p, hyps, n, err);
    bool again = false;
    int rc = find_need(j, p, r, hyps, &again, err);
    if (rc)
        return rc;
    if (again) {
        p->first_hyps = hyps;
        p->n_first_hyps = n;
        return DG_EAGAIN;
    }
    if (!n && p->first_hyps) { /* a second round may find nothing that fits the prefix */
        hyps = p->first_hyps;
        n = p->n_first_hyps;
    }
    if (dg_part_is_read_back(j, p) && (rc = dg_read_back_begin(j, p, hyps, n, err)))
        return rc;
    return p->reading ? DG_EAGAIN : take(j, p, hyps, n, err);
}
