/* The second half of a pipelined step (pipelined_step.c): read its candidates, let beam.c decide on
 * the host, and check that the device, which has decided in the meantime, came to the same
 * result. */
#include "model/engine/beam.h"
#include "model/engine/pipelined_internal.h"
#include "model/engine/pipelined_step.h"
#include "model/model_internal.h"

void dg_pipelined_leave(struct dg_pipelined_step *ps, struct dg_live *s)
{
    for (uint64_t i = ps->collected; s->in_flight && i < ps->submitted; i++) {
        struct dg_pipelined_submitted *f = &ps->steps[i % 2];
        for (uint32_t p = 0; p < f->n; p++)
            if (f->parts[p].s == s)
                f->parts[p].s = NULL;
    }
    s->device_hyps = s->in_flight = 0;
}

/* True if the device has kept the same hypotheses live. A search that is done has none to
 * compare. */
static bool agrees(const struct dg_live *s, const struct dg_pipelined_part *p,
    const struct dg_device_search_found *found)
{
    const struct dg_beam *b = &s->beam;
    /* The rows of the host's beam, in order, against the device's. */
    for (uint32_t r = 0; r < b->n_live; r++)
        if (found->parents[p->out + r] != (int32_t)b->parents[r] ||
            found->pieces[p->out + r] != dg_beam_last(b, r, -1))
            return false;
    /* Fewer than n_out: candidates ran out, and the device must have noticed, too. */
    return b->done || b->n_live == p->n_out || found->pieces[p->out + b->n_live] < 0;
}

static void unlink_live(struct dg_engine *e, struct dg_live *s)
{
    struct dg_live **link = &e->live;
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
}

/* Let a sentence's search decide by the candidates that came back. found NULL: the device failed,
 * there are no candidates, and the search ends. */
static void advance(struct dg_engine *e, struct dg_live *s, const struct dg_pipelined_part *p,
    const struct dg_device_search_found *found)
{
    struct dg_beam *b = &s->beam;
    struct dg_candidates c = {0};
    if (found) {
        /* The sentence's rows of the step's candidates: [n_in, want], ld apart. */
        const size_t at = p->row * found->ld;
        c = (struct dg_candidates){.logprob = found->logprob + at,
            .ids = found->ids + at,
            .k = p->want,
            .ld = found->ld,
            .sources = found->sources + p->row};
    }
    const bool bytes = found && dg_beam_offers_no_character(b, &c);
    /* A character's bytes need more candidates than the device sends: the host goes on alone. */
    if (bytes && dg_beam_short(b, &c)) {
        dg_pipelined_leave(e->pipelined, s);
        s->on_host = true;
        return;
    }
    /* Record the slots that the step wrote to before rows change places. */
    for (uint32_t r = 0; r < b->n_live; r++)
        s->history[0][(size_t)r * b->search.max_len + b->t] = dg_live_slot(e, s, r, b->t);
    dg_beam_advance(b, &c);
    if (found && !agrees(s, p, found)) {
        if (!bytes) /* later steps already use the device's choice: it cannot be mended */
            e->be->ops->device_search->refute(e->be, "which hypotheses live on");
        dg_pipelined_leave(e->pipelined, s);
    }
    if (b->done) {
        unlink_live(e, s);
        dg_engine_retire(e, s);
    } else {
        dg_live_reorder(s);
    }
}

uint32_t dg_pipelined_collect(struct dg_engine *e)
{
    struct dg_pipelined_step *ps = e->pipelined;
    struct dg_pipelined_submitted *f = &ps->steps[ps->collected++ % 2];
    struct dg_device_search_found found;
    /* The host waits for the device here; the device already has the next step to work on. */
    const bool whole = e->be->ops->device_search->wait(e->be, ps->search, &found);
    uint32_t rows = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        struct dg_pipelined_part *p = &f->parts[i];
        if (!p->s) /* finished or cancelled: one step too many */
            continue;
        p->s->in_flight--;
        rows += p->n_in;
        advance(e, p->s, p, whole ? &found : NULL);
    }
    return rows;
}

uint32_t dg_pipelined_step_drain(struct dg_engine *e)
{
    uint32_t rows = 0;
    while (e->pipelined->collected < e->pipelined->submitted)
        rows += dg_pipelined_collect(e);
    return rows;
}
