/* What the engine is asked: a job's sentences as searches, and their cost. */
#include "translate/job/job.h"
#include "translate/search/loops.h"
#include "translate/search/read_back.h"

#include <string.h>

/* Cap of the length penalty in a search with terms, in multiples of the source's tokens. */
#define PAID_LENGTH 1.2f

/* Beam width of a search with terms: `beam` hypotheses for each number of term pieces produced, up
 * to `most` but at least `beam`. */
static uint32_t width(uint32_t beam, uint32_t pieces, uint32_t most)
{
    const uint32_t wide = beam * (pieces + 1);
    return wide < most ? wide : most > beam ? most : beam;
}

/* Adapt the search for p to its terms: a wider beam, and room for their pieces. */
static void widen(const struct dg_job *j, const struct dg_part *p, struct dg_search *s)
{
    const uint32_t pieces = dg_terms_pieces(p->terms);
    const uint32_t most = j->options.max_beam ? j->options.max_beam : DG_MAX_BEAM;
    s->beam = width(dg_job_beam(j), pieces, most);
    s->max_len = dg_part_limit(j, p);
    /* Hypotheses that lack a term run on past their end, and an uncapped length penalty might
     * favour that. */
    if (!(s->penalty_cap > 0 && s->penalty_cap < PAID_LENGTH))
        s->penalty_cap = PAID_LENGTH;
    if (!s->no_repeat_ngram)
        s->no_repeat_ngram = dg_loop_free_order(p->ids, p->n_ids);
}

/* Adapt the search for p to a second look: several answers, and no run of pieces twice, because a
 * number said twice is the commonest fault. */
static void look(const struct dg_job *j, const struct dg_part *p, struct dg_search *s)
{
    s->n_best = dg_job_beam(j);
    s->no_repeat_ngram = dg_loop_free_order(p->ids, p->n_ids);
}

void dg_job_sentence(const struct dg_job *j, size_t i, struct dg_sentence *out)
{
    const struct dg_part *p = &j->parts[j->sentences[i]];
    memset(out, 0, sizeof *out);
    if (p->reading) {
        dg_read_back_sentence(j, p, out);
        return;
    }
    out->source = p->ids;
    out->n_source = p->n_ids;
    out->search = j->options.search;
    if (dg_part_is_read_back(j, p)) {
        out->search.beam = dg_job_beam(j);
        if (out->search.n_best < out->search.beam)
            out->search.n_best = out->search.beam;
    }
    if (p->block)
        out->search.no_repeat_ngram = p->block;
    if (p->not_empty && out->search.min_len < 2)
        out->search.min_len = 2;
    if (p->looks)
        look(j, p, &out->search);
    if (p->terms) {
        widen(j, p, &out->search);
        out->terms = p->terms;
    }
    out->want_alignment = j->options.alignments || p->shown.n_marks > 0 || p->looks;
    out->whole_vocabulary = j->whole_vocabulary;
    out->prefix = j->start;
    out->n_lead = j->lead >= 0;
    out->n_prefix = out->n_lead;
    if (i == 0 || j->n_alternatives) {
        out->n_prefix += j->n_forced ? j->n_forced : j->prefix.n;
        out->spelling = j->prefix.spelling.n_states ? &j->prefix.spelling : NULL;
    }
    if (j->n_alternatives)
        out->search.pick = (uint32_t)i + 1;
    out->forced = j->n_forced > 0;
}

void dg_job_cost(
    const struct dg_job *j, size_t i, uint32_t *source_tokens, uint32_t *max_target_tokens)
{
    const struct dg_part *p = &j->parts[j->sentences[i]];
    /* Reading the answers back takes about as long as the search for them. */
    *source_tokens = dg_part_is_read_back(j, p) ? 2 * p->n_ids : p->n_ids;
    *max_target_tokens = j->n_forced ? j->n_forced : dg_part_limit(j, p);
}
