#include "translate/accept/second_look.h"

#include "translate/answer/answer.h"
#include "translate/search/loops.h"

int dg_look_finds_fault(struct dg_job *j, const struct dg_part *p, struct dg_part_hyp *h,
    bool *faulty, struct dg_error *err)
{
    struct dg_part trial = *p;
    struct dg_buffer text;
    trial.hyps = h;
    trial.n_hyps = 1;
    trial.flags = 0;
    trial.ends = h->sources ? dg_arena_array(&j->arena, h->n, sizeof *trial.ends) : NULL;
    if (h->sources && !trial.ends)
        return DG_JOB_NO_MEMORY(err);
    dg_buffer_init(&text);
    int rc = dg_part_answer(j, &trial, 0, &text, err);
    if (!rc && text.failed)
        rc = DG_JOB_NO_MEMORY(err);
    *faulty = text.len == 0 || trial.flags & DG_FLAG_NUMBER_MISMATCH;
    dg_buffer_deinit(&text);
    return rc;
}

int dg_look_choose(struct dg_job *j, const struct dg_part *p, struct dg_part_hyp *hyps, uint32_t n,
    struct dg_part_hyp **best, struct dg_error *err)
{
    int rc = 0;
    *best = NULL;
    for (uint32_t k = 0; k < n && !*best && !rc; k++) {
        struct dg_loop loop;
        bool faulty = dg_loop_in_answer(p->ids, p->n_ids, hyps[k].ids, hyps[k].n, &loop);
        if (!faulty)
            rc = dg_look_finds_fault(j, p, &hyps[k], &faulty, err);
        if (!rc && !faulty)
            *best = &hyps[k];
    }
    return rc;
}
