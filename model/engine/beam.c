#include "model/engine/beam.h"

#include "model/engine/beam_internal.h"
#include "model/engine/constrained.h"
#include "model/engine/ngram.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double dg_length_penalty(enum dg_penalty penalty, double alpha, uint32_t n)
{
    switch (penalty) {
    case DG_PENALTY_GNMT: return pow((5.0 + n) / 6.0, alpha);
    case DG_PENALTY_POWER: return pow((double)n, alpha);
    case DG_PENALTY_NONE: break;
    }
    return 1.0;
}

/* The divisor of the log-probability of n tokens. */
static double penalty_of(const struct dg_search *s, uint32_t n)
{
    if (s->penalty_tokens && n > s->penalty_tokens)
        n = s->penalty_tokens;
    return dg_length_penalty(s->penalty, s->alpha, n);
}

/* Cut the block into rows of `cap` pieces. */
static void lay_out(struct dg_beam *b, uint32_t cap)
{
    unsigned char *p = b->block;
    struct dg_beam_row *groups[3] = {b->live, b->next, b->finished_rows};
    for (int g = 0; g < 3; g++) {
        for (uint32_t i = 0; i < b->search.beam; i++) {
            groups[g][i].ids = (int32_t *)(void *)p;
            p += cap * sizeof(int32_t);
            groups[g][i].token_logprob = (float *)(void *)p;
            p += cap * sizeof(float);
            groups[g][i].sources = (int32_t *)(void *)p;
            p += cap * sizeof(int32_t);
            groups[g][i].logprob = 0;
            groups[g][i].against = 0;
            groups[g][i].settled = (struct dg_terms_state){0};
        }
    }
}

int dg_beam_begin(struct dg_beam *b, const struct dg_search *search, int32_t eos,
    const int32_t *prefix, uint32_t n_prefix, bool forced, struct dg_error *err)
{
    assert(search->beam >= 1 && search->beam <= DG_MAX_BEAM);
    assert(search->n_best >= 1 && search->n_best <= search->beam && search->max_len >= 1);
    const size_t piece = 2 * sizeof(int32_t) + sizeof(float);
    size_t bytes = 3 * (size_t)search->beam * search->max_len * piece;
    if (bytes > b->block_bytes) {
        void *p = realloc(b->block, bytes);
        if (!p)
            return dg_error_set(err, DG_ENOMEM, "no memory for a beam of %u over %u pieces",
                search->beam, search->max_len);
        b->block = p;
        b->block_bytes = bytes;
    }
    b->search = *search;
    b->eos = eos;
    b->prefix = prefix;
    b->n_prefix = n_prefix;
    b->n_lead = 0;
    b->forced = forced;
    b->never = -1;
    b->bytes = (struct dg_byte_rule){0};
    b->terms = NULL;
    b->t = 0;
    b->n_live = 1;
    b->n_finished = 0;
    b->done = false;
    lay_out(b, search->max_len);
    return 0;
}

void dg_beam_deinit(struct dg_beam *b)
{
    free(b->block);
    memset(b, 0, sizeof *b);
}

int32_t dg_beam_force(const struct dg_beam *b, uint32_t t)
{
    return t < b->n_prefix ? b->prefix[t] : -1;
}

/* Start of the pieces that may not repeat: after the prefix, which the search did not choose. */
static uint32_t own_from(const struct dg_beam *b)
{
    return b->n_prefix < b->t ? b->n_prefix : b->t;
}

/* Would </s> be too early after t pieces? */
static bool too_early(const struct dg_beam *b, uint32_t t)
{
    return t + 1 < b->search.min_len + b->n_lead;
}

/* Most candidates that are passed over as repeats in any row; `never` and a too early </s> come on
 * top. */
static uint32_t blocked(const struct dg_beam *b)
{
    uint32_t most = 0, from = own_from(b);
    for (uint32_t r = 0; b->search.no_repeat_ngram && r < b->n_live; r++) {
        uint32_t n =
            dg_ngram_blocked(b->live[r].ids + from, b->t - from, b->search.no_repeat_ngram);
        most = n > most ? n : most;
    }
    return most;
}

/* True if the piece after t others must be the pick-th best. */
static bool picks(const struct dg_beam *b, uint32_t t)
{
    return b->search.pick && t == b->n_prefix;
}

bool dg_beam_plain(const struct dg_beam *b, uint32_t t)
{
    return b->search.sampling.temperature <= 0 && !b->search.no_repeat_ngram &&
           !(b->search.pick && t <= b->n_prefix) && !b->n_lead && !b->terms;
}

uint32_t dg_beam_wants(const struct dg_beam *b, uint32_t t)
{
    if (t < b->n_prefix)
        return 1;
    uint32_t passed = (b->never >= 0 ? 1 : 0) + blocked(b);
    if (b->search.beam == 1 || picks(b, t))
        return (too_early(b, t) ? 2 : 1) + passed + (picks(b, t) ? b->search.pick - 1 : 0);
    return 2 * b->search.beam + passed;
}

int32_t dg_beam_last(const struct dg_beam *b, uint32_t r, int32_t start)
{
    return b->t ? b->live[r].ids[b->t - 1] : start;
}

/* The hypothesis with the lowest rank; of several, the last to come. */
static uint32_t find_worst(const struct dg_beam *b)
{
    uint32_t at = 0;
    for (uint32_t i = 1; i < b->n_finished; i++)
        if (b->finished[i].rank <= b->finished[at].rank)
            at = i;
    return at;
}

/* Remove finished hypothesis `at`. Later ones move up, so that order tells which came first; the
 * freed arrays go after the last. */
static void forget_finished(struct dg_beam *b, uint32_t at)
{
    const struct dg_beam_row freed = b->finished_rows[at];
    b->n_finished--;
    for (uint32_t i = at; i < b->n_finished; i++) {
        b->finished[i] = b->finished[i + 1];
        b->finished_rows[i] = b->finished_rows[i + 1];
    }
    b->finished_rows[b->n_finished] = freed;
}

/* Set `to` to from[n] and one more piece. */
static void append(struct dg_beam_row *to, const struct dg_beam_row *from, uint32_t n,
    const struct dg_beam_piece *piece)
{
    memcpy(to->ids, from->ids, n * sizeof *to->ids);
    memcpy(to->token_logprob, from->token_logprob, n * sizeof *to->token_logprob);
    memcpy(to->sources, from->sources, n * sizeof *to->sources);
    to->ids[n] = piece->id;
    to->token_logprob[n] = piece->logprob;
    to->sources[n] = piece->source;
}

void dg_beam_finish(struct dg_beam *b, const struct dg_beam_row *from, uint32_t n_from,
    const struct dg_beam_piece *last, double total, bool length_limited)
{
    uint32_t lead = b->n_lead, n = n_from + 1 - lead;
    const double penalty = penalty_of(&b->search, n), rank = (total + from->against) / penalty;
    if (b->n_finished == b->search.n_best) {
        const uint32_t worst = find_worst(b);
        if (rank <= b->finished[worst].rank)
            return;
        forget_finished(b, worst);
    }
    const uint32_t at = b->n_finished++;
    struct dg_beam_row *row = &b->finished_rows[at];
    append(row, from, n_from, last);
    b->finished[at] = (struct dg_hypothesis){row->ids + lead, row->token_logprob + lead, n, total,
        total / penalty, rank, length_limited, row->sources + lead};
}

/* Best first; equal ranks keep their order. */
static void sort_finished(struct dg_beam *b)
{
    for (uint32_t i = 1; i < b->n_finished; i++) {
        struct dg_hypothesis h = b->finished[i];
        uint32_t j = i;
        for (; j > 0 && b->finished[j - 1].rank < h.rank; j--)
            b->finished[j] = b->finished[j - 1];
        b->finished[j] = h;
    }
}

void dg_beam_extend(
    struct dg_beam *b, uint32_t to, uint32_t r, const struct dg_beam_piece *piece, double total)
{
    append(&b->next[to], &b->live[r], b->t, piece);
    b->next[to].logprob = b->t < b->n_lead ? 0 : total;
    b->next[to].against = b->live[r].against;
    b->next[to].settled = b->live[r].settled;
    b->parents[to] = r;
}

/* Does row r end within a character? */
static bool within_character(const struct dg_beam *b, uint32_t r)
{
    return dg_byte_rule_within(&b->bytes, b->live[r].ids, b->t);
}

bool dg_beam_makes_no_character(const struct dg_beam *b, uint32_t r, int32_t id)
{
    return !dg_byte_rule_allows(
        &b->bytes, b->live[r].ids, b->t, id, b->search.max_len - (b->t + 1));
}

bool dg_beam_passes_over(const struct dg_beam *b, uint32_t r, int32_t id)
{
    uint32_t order = b->search.no_repeat_ngram, from = own_from(b);
    if (dg_beam_makes_no_character(b, r, id))
        return true;
    if (within_character(b, r)) /* a character can always be completed */
        return false;
    return (id == b->eos && too_early(b, b->t)) || id == b->never ||
           (order && dg_ngram_repeats(b->live[r].ids + from, b->t - from, order, id));
}

uint32_t dg_beam_best_row(const struct dg_beam *b, const struct dg_candidates *offer,
    const uint32_t at[DG_MAX_BEAM], double *best_total)
{
    uint32_t best = UINT32_MAX;
    *best_total = -INFINITY;
    for (uint32_t r = 0; r < b->n_live; r++) {
        if (at[r] == offer->k)
            continue;
        const double total = b->live[r].logprob + (double)offer->logprob[r * offer->ld + at[r]];
        if (total > *best_total) {
            *best_total = total;
            best = r;
        }
    }
    return best;
}

struct dg_beam_piece dg_beam_offered(const struct dg_candidates *offer, uint32_t r, uint32_t at)
{
    const size_t i = r * offer->ld + at;
    return (struct dg_beam_piece){
        offer->ids[i], offer->sources ? offer->sources[r] : -1, offer->logprob[i]};
}

/* Candidates that a step considers, besides those that it passes over. */
static uint32_t looks_at(const struct dg_beam *b, bool forcing)
{
    return b->search.beam == 1 || forcing || picks(b, b->t) ? 1 : 2 * b->search.beam;
}

/* Rows, one bit each, that have a byte that forms no character among their candidates. */
static uint32_t rows_with_no_character(const struct dg_beam *b, const struct dg_candidates *offer)
{
    uint32_t rows = 0;
    for (uint32_t r = 0; r < b->n_live; r++)
        for (uint32_t i = 0; i < offer->k; i++) {
            const size_t at = r * offer->ld + i;
            const int32_t id = offer->ids[at];
            if (id >= 0 && offer->logprob[at] > -INFINITY && dg_beam_makes_no_character(b, r, id))
                rows |= UINT32_C(1) << r;
        }
    return rows;
}

bool dg_beam_offers_no_character(const struct dg_beam *b, const struct dg_candidates *offer)
{
    return b->bytes.pieces && b->t >= b->n_prefix && rows_with_no_character(b, offer);
}

uint32_t dg_beam_short(const struct dg_beam *b, const struct dg_candidates *offer)
{
    if (!b->bytes.pieces || b->t < b->n_prefix)
        return 0;
    const uint32_t concerned = rows_with_no_character(b, offer);
    if (!concerned || dg_constrained_next(b)) /* a step with terms considers more than the best */
        return concerned;
    uint32_t at[DG_MAX_BEAM] = {0}, rows = 0, skip = picks(b, b->t) ? b->search.pick - 1 : 0;
    for (uint32_t c = 0, looked = looks_at(b, false); c < looked; c++) {
        double total;
        const uint32_t best = dg_beam_best_row(b, offer, at, &total);
        if (best == UINT32_MAX)
            break;
        const int32_t id = offer->ids[best * offer->ld + at[best]++];
        if (dg_beam_passes_over(b, best, id) || (skip && skip--))
            looked++;
        if (at[best] == offer->k && c + 1 < looked)
            rows |= UINT32_C(1) << best;
    }
    return rows & concerned;
}

/* Walk the best candidates over all rows; returns how many stay live. Forced pieces stay live even
 * when they are </s>. */
static uint32_t select_candidates(
    struct dg_beam *b, const struct dg_candidates *offer, bool forcing)
{
    uint32_t K = b->search.beam, looked = looks_at(b, forcing), n_next = 0;
    uint32_t at[DG_MAX_BEAM] = {0}, skip = !forcing && picks(b, b->t) ? b->search.pick - 1 : 0;
    for (uint32_t c = 0; c < looked; c++) {
        double best_total;
        const uint32_t best = dg_beam_best_row(b, offer, at, &best_total);
        if (best == UINT32_MAX)
            break; /* nothing possible is left (fewer candidates than asked, or all at -inf) */
        const struct dg_beam_piece piece = dg_beam_offered(offer, best, at[best]++);
        if (!forcing && (dg_beam_passes_over(b, best, piece.id) || (skip && skip--)))
            looked++; /* passed over: consider one more instead */
        else if (piece.id == b->eos && !forcing)
            dg_beam_finish(b, &b->live[best], b->t, &piece, best_total, false);
        else if (n_next < K)
            dg_beam_extend(b, n_next++, best, &piece, best_total);
    }
    return n_next;
}

void dg_beam_advance(struct dg_beam *b, const struct dg_candidates *c)
{
    assert(!b->done);
    bool forcing = b->t < b->n_prefix;
    uint32_t n_next =
        dg_constrained_next(b) ? dg_constrained_select(b, c) : select_candidates(b, c, forcing);
    uint32_t t = b->t + 1;
    bool at_limit = t == b->search.max_len, whole = b->forced && t == b->n_prefix;
    if (at_limit || whole) {
        for (uint32_t r = 0; r < n_next; r++) {
            const struct dg_beam_row *row = &b->next[r];
            const struct dg_beam_piece last = {
                row->ids[t - 1], row->sources[t - 1], row->token_logprob[t - 1]};
            dg_beam_finish(b, row, t - 1, &last, row->logprob, !whole);
        }
        n_next = 0;
    }
    for (uint32_t r = 0; r < n_next; r++) {
        struct dg_beam_row tmp = b->live[r];
        b->live[r] = b->next[r];
        b->next[r] = tmp;
    }
    b->n_live = n_next;
    b->t = t;
    if (n_next && b->n_finished == b->search.n_best) {
        const double penalty = penalty_of(&b->search, b->search.max_len - b->n_lead);
        if ((b->live[0].logprob + b->live[0].against) / penalty <= b->finished[find_worst(b)].rank)
            b->n_live = 0;
    }
    if (!b->n_live) {
        b->done = true;
        sort_finished(b);
    }
}
