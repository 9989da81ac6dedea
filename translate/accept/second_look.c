#include "translate/accept/second_look.h"

#include "translate/answer/answer.h"

int dg_look_finds_fault(struct dg_job *j, const struct dg_part *p, struct dg_part_hyp *h,
    const int32_t *sources, bool *faulty, struct dg_error *err)
{
    struct dg_part trial = *p;
    struct dg_buffer text;
    trial.hyps = h;
    trial.n_hyps = 1;
    trial.flags = 0;
    trial.alignment = sources;
    trial.ends = sources ? dg_arena_array(&j->arena, h->n, sizeof *trial.ends) : NULL;
    if (sources && !trial.ends)
        return DG_JOB_NO_MEMORY(err);
    dg_buffer_init(&text);
    int rc = dg_part_answer(j, &trial, 0, &text, err);
    if (!rc && text.failed)
        rc = DG_JOB_NO_MEMORY(err);
    *faulty = text.len == 0 || trial.flags & DG_FLAG_NUMBER_MISMATCH;
    dg_buffer_deinit(&text);
    return rc;
}
