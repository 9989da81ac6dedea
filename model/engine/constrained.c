#include "model/engine/constrained.h"

#include "model/engine/beam_internal.h"

#include <math.h>

/* A candidate: one row continued by one piece. */
struct way {
    /* the sum of log-probabilities, and what terms have against it, which ranks with it */
    double total, against;
    uint32_t row, bank;
    struct dg_beam_piece piece;
};

/* Most candidates of a step: the best over all rows, each row's best, and those that terms need. */
#define MAX_WAYS (2 * DG_MAX_BEAM + DG_MAX_BEAM + DG_MAX_BEAM * DG_MAX_TERM_FORMS)

struct ways {
    struct way *list;
    uint32_t n;
    /* list[n_best) are of any row; those from `of_row` on are of the row that is added now */
    uint32_t n_best, of_row;
    const struct dg_candidates *offer;
    /* pieces of all terms */
    uint32_t pieces;
    /* [n_live] of each row as it is: its terms, and those at whose source attention is, and was */
    struct dg_terms_state before[DG_MAX_BEAM];
    uint32_t here[DG_MAX_BEAM], last[DG_MAX_BEAM];
};

bool dg_constrained_next(const struct dg_beam *b)
{
    return b->terms && b->t >= b->n_prefix && b->t >= b->n_lead;
}

/* The pieces of a row that belong to the answer: all after the n_lead leading ones. */
static const int32_t *own_ids(const struct dg_beam *b, uint32_t r)
{
    return b->live[r].ids + b->n_lead;
}

uint32_t dg_constrained_wants(const struct dg_beam *b, uint32_t r, int32_t *ids)
{
    const uint32_t n = b->t - b->n_lead;
    const struct dg_terms_state s = dg_terms_look(b->terms, &b->live[r].settled, own_ids(b, r), n);
    return dg_terms_next(b->terms, &s, own_ids(b, r), n, ids, DG_MAX_TERM_FORMS);
}

/* The terms of row r once id follows; </s> adds none. */
static struct dg_terms_state after(const struct dg_beam *b, uint32_t r, int32_t id)
{
    uint32_t n = b->t - b->n_lead;
    if (id != b->eos)
        b->live[r].ids[b->n_lead + n++] = id; /* the row has room for one more piece */
    return dg_terms_look(b->terms, &b->live[r].settled, own_ids(b, r), n);
}

/* What the terms have against row r followed by the piece, which makes of them `after`. */
static double against(const struct dg_beam *b, const struct ways *w, uint32_t r,
    const struct dg_beam_piece *piece, const struct dg_terms_state *after)
{
    const struct dg_needed *needed = &w->offer->needed[r];
    struct dg_terms_step s = {.before = w->before[r],
        .after = *after,
        .id = piece->id,
        .here = w->here[r],
        .last = w->last[r],
        .sources = b->live[r].sources + b->n_lead,
        .n = b->t - b->n_lead};
    for (uint32_t i = 0; i < needed->n; i++)
        s.needed |= needed->ids[i] == piece->id;
    return piece->id == b->eos ? 0 : dg_terms_against(b->terms, &s);
}

static bool is_in(const struct way *list, uint32_t n, uint32_t r, int32_t id)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].row == r && list[i].piece.id == id)
            return true;
    return false;
}

/* Add row r continued by `piece`, if that is allowed and not in the list yet; returns whether it
 * was added. needed: a term asks for the piece. */
static bool add(
    struct dg_beam *b, struct ways *w, uint32_t r, const struct dg_beam_piece *piece, bool needed)
{
    const uint32_t left = b->search.max_len - (b->t + 1);
    if (piece->id < 0 || !(piece->logprob > -INFINITY) || piece->id == b->never)
        return false;
    if (needed ? dg_beam_makes_no_character(b, r, piece->id) : dg_beam_passes_over(b, r, piece->id))
        return false;
    if (is_in(w->list, w->n_best, r, piece->id) ||
        is_in(w->list + w->of_row, w->n - w->of_row, r, piece->id))
        return false;
    const struct dg_terms_state s = after(b, r, piece->id);
    if (piece->id == b->eos ? s.pieces < w->pieces : left < w->pieces - s.pieces)
        return false;
    w->list[w->n++] = (struct way){b->live[r].logprob + (double)piece->logprob,
        b->live[r].against + against(b, w, r, piece, &s), r, s.pieces, *piece};
    return true;
}

/* Add the best 2K over all rows, those that the plain search considers. */
static void add_best(struct dg_beam *b, struct ways *w)
{
    const struct dg_candidates *offer = w->offer;
    uint32_t at[DG_MAX_BEAM] = {0}, count = 0;
    while (count < 2 * b->search.beam) {
        double total;
        const uint32_t best = dg_beam_best_row(b, offer, at, &total);
        if (best == UINT32_MAX)
            break;
        const struct dg_beam_piece piece = dg_beam_offered(offer, best, at[best]++);
        count += add(b, w, best, &piece, false);
    }
    w->n_best = w->n;
}

/* Add the pieces that each row needs, and its own best: the first allowed one of its two best. */
static void add_rows(struct dg_beam *b, struct ways *w)
{
    const struct dg_candidates *offer = w->offer;
    for (uint32_t r = 0; r < b->n_live; r++) {
        const struct dg_needed *needed = &offer->needed[r];
        w->of_row = w->n;
        for (uint32_t i = 0; i < needed->n; i++) {
            const struct dg_beam_piece piece = {
                needed->ids[i], offer->sources ? offer->sources[r] : -1, needed->logprob[i]};
            add(b, w, r, &piece, true);
        }
        for (uint32_t i = 0; i < offer->k && i < 2; i++) {
            const struct dg_beam_piece piece = dg_beam_offered(offer, r, i);
            if (add(b, w, r, &piece, false))
                break;
        }
    }
}

/* True if x is the better one. No two are equal: a row has each piece once. */
static bool is_better(const struct way *x, const struct way *y)
{
    const double of_x = x->total + x->against, of_y = y->total + y->against;
    if (of_x != of_y)
        return of_x > of_y;
    return x->row != y->row ? x->row < y->row : x->piece.id < y->piece.id;
}

/* Sort best first; by_bank: candidates with most pieces of the terms first. A shell sort, since
 * qsort may allocate and a step must not. */
static void sort(struct way *list, uint32_t n, bool by_bank)
{
    for (uint32_t gap = n / 2; gap > 0; gap /= 2) {
        for (uint32_t i = gap; i < n; i++) {
            const struct way w = list[i];
            uint32_t at = i;
            for (; at >= gap; at -= gap) {
                const struct way *x = &list[at - gap];
                if (by_bank && x->bank != w.bank ? x->bank > w.bank : is_better(x, &w))
                    break;
                list[at] = *x;
            }
            list[at] = w;
        }
    }
}

/* Choose up to K of list[n], which is sorted by bank: the best of each bank in turn, then the
 * second best, and so on. Returns how many. */
static uint32_t share(struct way *list, uint32_t n, uint32_t K, struct way *chosen)
{
    uint32_t count = 0;
    for (uint32_t rank = 0; count < K; rank++) {
        const uint32_t before = count;
        for (uint32_t i = 0, of_bank = 0; i < n && count < K; i++) {
            of_bank = i && list[i].bank == list[i - 1].bank ? of_bank + 1 : 0;
            if (of_bank == rank)
                chosen[count++] = list[i];
        }
        if (count == before)
            break;
    }
    return count;
}

/* Look at row r as it is, before it is continued. */
static void look_at(struct dg_beam *b, struct ways *w, uint32_t r)
{
    const uint32_t n = b->t - b->n_lead;
    const int32_t *sources = w->offer->sources, *of_row = b->live[r].sources;
    dg_terms_settle(b->terms, &b->live[r].settled, own_ids(b, r), n);
    w->before[r] = dg_terms_look(b->terms, &b->live[r].settled, own_ids(b, r), n);
    w->here[r] = dg_terms_from(b->terms, sources ? sources[r] : -1);
    w->last[r] = dg_terms_from(b->terms, n ? of_row[b->t - 1] : -1);
}

uint32_t dg_constrained_select(struct dg_beam *b, const struct dg_candidates *offer)
{
    struct way list[MAX_WAYS], chosen[DG_MAX_BEAM];
    struct ways w = {.list = list, .offer = offer, .pieces = dg_terms_pieces(b->terms)};
    uint32_t n = 0;
    for (uint32_t r = 0; r < b->n_live; r++)
        look_at(b, &w, r);
    add_best(b, &w);
    add_rows(b, &w);
    sort(list, w.n, true);
    for (uint32_t i = 0; i < w.n; i++) {
        if (list[i].piece.id == b->eos)
            dg_beam_finish(b, &b->live[list[i].row], b->t, &list[i].piece, list[i].total, false);
        else
            list[n++] = list[i];
    }
    n = share(list, n, b->search.beam, chosen);
    sort(chosen, n, false);
    for (uint32_t i = 0; i < n; i++) {
        dg_beam_extend(b, i, chosen[i].row, &chosen[i].piece, chosen[i].total);
        b->next[i].against = chosen[i].against;
    }
    return n;
}
