#include "model/engine/terms.h"

#include <string.h>

static bool has(const uint64_t *bits, int32_t id)
{
    return bits[id / 64] >> (id % 64) & 1;
}

static const int32_t *ids_of(const struct dg_terms *t, const struct dg_term_form *f)
{
    return t->ids + f->at;
}

/* True if ids[n], which may be empty, are the form's first n pieces. */
static bool starts(
    const struct dg_terms *t, const struct dg_term_form *f, const int32_t *ids, uint32_t n)
{
    const int32_t *of = ids_of(t, f);
    return !n || (of[0] == ids[0] && memcmp(of, ids, n * sizeof *ids) == 0);
}

/* True if the form may begin at position `at`, after ids[at - 1]. */
static bool may_begin(
    const struct dg_terms *t, const struct dg_term_form *f, const int32_t *ids, uint32_t at)
{
    switch ((enum dg_term_place)f->place) {
    case DG_TERM_ANYWHERE: break;
    case DG_TERM_INSIDE: return at > 0 && has(t->opens, ids[at - 1]);
    case DG_TERM_FIRST: return at == 0;
    }
    return true;
}

/* Pieces of the term's first form. */
static uint32_t size_of(const struct dg_terms *t, uint32_t term)
{
    uint32_t i = 0;
    while (t->forms[i].term != term)
        i++;
    return t->forms[i].n;
}

uint32_t dg_terms_pieces(const struct dg_terms *t)
{
    uint32_t n = 0;
    for (uint32_t term = 0; term < t->n; term++)
        n += size_of(t, term);
    return n;
}

/* The longest form of a term not met yet that ids[n] have at `at` as a whole word; NULL: none. */
static const struct dg_term_form *whole_at(
    const struct dg_terms *t, uint32_t met, const int32_t *ids, uint32_t n, uint32_t at)
{
    const struct dg_term_form *best = NULL;
    for (uint32_t i = 0; i < t->n_forms; i++) {
        const struct dg_term_form *f = &t->forms[i];
        if (met >> f->term & 1 || f->n > n - at || (best && f->n <= best->n) ||
            !starts(t, f, ids + at, f->n) || !may_begin(t, f, ids, at))
            continue;
        if (at + f->n < n && has(t->continues, ids[at + f->n]))
            continue;
        best = f;
    }
    return best;
}

/* True if ids[at .. n), which may be empty, are the beginning of the form but not all of it. */
static bool begun_at(const struct dg_terms *t, const struct dg_term_form *f, const int32_t *ids,
    uint32_t n, uint32_t at)
{
    return f->n > n - at && starts(t, f, ids + at, n - at) && may_begin(t, f, ids, at);
}

/* The pieces that count for a term in progress: the size of its first form less the pieces that are
 * still missing; the most of all such terms. */
static uint32_t begun(
    const struct dg_terms *t, const struct dg_terms_state *s, const int32_t *ids, uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t at = s->from; at < n; at++) {
        for (uint32_t i = 0; i < t->n_forms; i++) {
            const struct dg_term_form *f = &t->forms[i];
            if (s->met >> f->term & 1 || !begun_at(t, f, ids, n, at))
                continue;
            const uint32_t size = size_of(t, f->term), left = f->n - (n - at);
            if (left < size && size - left > most)
                most = size - left;
        }
    }
    return most;
}

/* Count the form, which ends before position `end`, as present. */
static void meet(
    const struct dg_terms *t, struct dg_terms_state *s, const struct dg_term_form *f, uint32_t end)
{
    s->met |= UINT32_C(1) << f->term;
    s->pieces += size_of(t, f->term);
    s->from = end;
}

/* True if ids[at .. n) are the beginning of a term not met yet. */
static bool is_open(
    const struct dg_terms *t, uint32_t met, const int32_t *ids, uint32_t n, uint32_t at)
{
    for (uint32_t i = 0; i < t->n_forms; i++)
        if (!(met >> t->forms[i].term & 1) && begun_at(t, &t->forms[i], ids, n, at))
            return true;
    return false;
}

void dg_terms_settle(
    const struct dg_terms *t, struct dg_terms_state *settled, const int32_t *ids, uint32_t n)
{
    while (settled->from < n) {
        const uint32_t at = settled->from;
        const struct dg_term_form *f = whole_at(t, settled->met, ids, n, at);
        /* A form that is still open is longer than f; one at the end may turn out to go on. */
        if ((f && at + f->n == n) || is_open(t, settled->met, ids, n, at))
            return;
        if (f)
            meet(t, settled, f, at + f->n);
        else
            settled->from++;
    }
}

struct dg_terms_state dg_terms_look(
    const struct dg_terms *t, const struct dg_terms_state *settled, const int32_t *ids, uint32_t n)
{
    struct dg_terms_state s = *settled;
    for (uint32_t at = s.from; at < n;) {
        const struct dg_term_form *f = whole_at(t, s.met, ids, n, at);
        if (f)
            meet(t, &s, f, at + f->n);
        at = f ? s.from : at + 1;
    }
    s.pieces += begun(t, &s, ids, n);
    return s;
}

uint32_t dg_terms_next(const struct dg_terms *t, const struct dg_terms_state *s, const int32_t *ids,
    uint32_t n, int32_t *next, uint32_t cap)
{
    uint32_t count = 0;
    for (uint32_t at = s->from; at <= n; at++) {
        for (uint32_t i = 0; i < t->n_forms; i++) {
            const struct dg_term_form *f = &t->forms[i];
            if (s->met >> f->term & 1 || !begun_at(t, f, ids, n, at))
                continue;
            const int32_t id = ids_of(t, f)[n - at];
            uint32_t k = 0;
            while (k < count && next[k] != id)
                k++;
            if (k == count && count < cap)
                next[count++] = id;
        }
    }
    return count;
}

/* More than any words of the model's own gain over a term. */
#define WORD_FOR_TERM (-20.0)
/* Less: words such as articles and particles may come from the same source. */
#define WORD_BESIDE_TERM (-5.0)

uint32_t dg_terms_from(const struct dg_terms *t, int32_t position)
{
    uint32_t here = 0, all = 0;
    for (uint32_t i = 0; t->sources && i < t->n && position >= 0; i++)
        if ((uint32_t)position >= t->sources[i].begin && (uint32_t)position < t->sources[i].end)
            here |= UINT32_C(1) << i;
    for (uint32_t i = 0; here && i < t->n_forms; i++) {
        const struct dg_term_form *a = &t->forms[i];
        for (uint32_t k = 0; (here >> a->term & 1) && k < t->n_forms; k++)
            if (t->forms[k].n == a->n && starts(t, &t->forms[k], ids_of(t, a), a->n))
                all |= UINT32_C(1) << t->forms[k].term;
    }
    return all;
}

/* True if attention is on the source of a term that the step completes, at one of the term's
 * pieces: at the later ones of a long word it may be elsewhere. */
static bool at_source(const struct dg_terms *t, const struct dg_terms_step *s, uint32_t completed)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < t->n_forms; i++)
        if (completed >> t->forms[i].term & 1 && t->forms[i].n > most)
            most = t->forms[i].n;
    bool found = s->here & completed;
    for (uint32_t i = 1; i < most && i <= s->n && !found; i++)
        found = dg_terms_from(t, s->sources[s->n - i]) & completed;
    return found;
}

double dg_terms_against(const struct dg_terms *t, const struct dg_terms_step *s)
{
    const uint32_t missing = ~s->after.met, completed = s->after.met & ~s->before.met;
    if (!t->sources)
        return 0;
    if (completed)
        return at_source(t, s, completed) ? 0 : WORD_FOR_TERM;
    if (s->after.pieces < s->before.pieces)
        return s->last & missing ? WORD_FOR_TERM : 0;
    if (s->needed || s->after.pieces > s->before.pieces)
        return 0;
    /* A word begins where attention is, or attention comes there within a word. */
    const bool begins = has(t->begins, s->id), comes = has(t->continues, s->id) && !s->last;
    if ((begins || comes) && s->here & missing)
        return WORD_FOR_TERM;
    return begins && s->here ? WORD_BESIDE_TERM : 0;
}

bool dg_terms_same(const struct dg_terms *a, const struct dg_terms *b)
{
    if (!a || !b)
        return !a && !b;
    return a->n == b->n && a->n_forms == b->n_forms && a->n_ids == b->n_ids &&
           memcmp(a->forms, b->forms, a->n_forms * sizeof *a->forms) == 0 &&
           memcmp(a->ids, b->ids, a->n_ids * sizeof *a->ids) == 0 && !a->sources == !b->sources &&
           (!a->sources || memcmp(a->sources, b->sources, a->n * sizeof *a->sources) == 0);
}
