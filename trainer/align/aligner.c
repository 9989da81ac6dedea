#include "trainer/align/aligner.h"

#include "base/alloc.h"
#include "trainer/align/lexicon.h"

#include <stdlib.h>
#include <string.h>

enum { MAX = DG_LEXICON_PIECES };

struct dg_aligner {
    const struct dg_dataset *d;
    struct dg_aligner_options o;
    struct dg_lexicon *there, *back;
    int32_t source[MAX], target[MAX], from[MAX], to[MAX];
    struct dg_link links[MAX * MAX];
};

struct dg_aligner *dg_aligner_new(const struct dg_dataset *d, const struct dg_aligner_options *o)
{
    struct dg_aligner *a = dg_alloc(1, sizeof *a, "an aligner");
    a->d = d;
    a->o = *o;
    struct dg_lexicon_options l = {.source_vocab = o->source_vocab,
        .target_vocab = o->target_vocab,
        .source_eos = o->eos,
        .target_eos = o->eos,
        .pairs = DG_LEXICON_PAIRS,
        .tension = 4}; /* initial value of Dyer et al. */
    a->there = dg_lexicon_new(d, &l);
    l.source_vocab = o->target_vocab;
    l.target_vocab = o->source_vocab;
    l.reversed = true;
    a->back = dg_lexicon_new(d, &l);
    return a;
}

void dg_aligner_free(struct dg_aligner *a)
{
    if (!a)
        return;
    dg_lexicon_free(a->there);
    dg_lexicon_free(a->back);
    free(a);
}

/* A pair's links while they grow. */
struct grid {
    uint32_t n_source, n_target;
    const int32_t *there, *back;
    /* [n_target,n_source] */
    bool linked[MAX * MAX];
    bool has_source[MAX], has_target[MAX];
};

static void put(struct grid *g, uint32_t j, uint32_t i)
{
    g->linked[j * g->n_source + i] = g->has_target[j] = g->has_source[i] = true;
}

/* True if the link is in the union, new, and for a piece that has no link yet. */
static bool is_wanted(const struct grid *g, int64_t j, int64_t i)
{
    if (j < 0 || i < 0 || j >= g->n_target || i >= g->n_source || g->linked[j * g->n_source + i] ||
        (g->has_target[j] && g->has_source[i]))
        return false;
    return g->there[j] == i || g->back[i] == j;
}

/* Adds the wanted neighbours of each link once; true if there were any. */
static bool grow(struct grid *g)
{
    static const int steps[8][2] = {
        {-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
    bool grown = false;
    for (uint32_t j = 0; j < g->n_target; j++)
        for (uint32_t i = 0; i < g->n_source; i++)
            for (int k = 0; k < 8 && g->linked[j * g->n_source + i]; k++) {
                const int64_t to_j = (int64_t)j + steps[k][0], to_i = (int64_t)i + steps[k][1];
                if (is_wanted(g, to_j, to_i)) {
                    put(g, (uint32_t)to_j, (uint32_t)to_i);
                    grown = true;
                }
            }
    return grown;
}

size_t dg_aligner_grow(const int32_t *there, uint32_t n_target, const int32_t *back,
    uint32_t n_source, struct dg_link *links)
{
    struct grid g = {.n_source = n_source, .n_target = n_target, .there = there, .back = back};
    size_t n = 0;
    for (uint32_t j = 0; j < n_target; j++)
        if (there[j] >= 0 && back[there[j]] == (int32_t)j)
            put(&g, j, (uint32_t)there[j]);
    while (grow(&g))
        ;
    for (uint32_t j = 0; j < n_target; j++)
        for (uint32_t i = 0; i < n_source; i++)
            if (g.linked[j * n_source + i])
                links[n++] = (struct dg_link){(uint16_t)j, (uint16_t)i};
    return n;
}

const struct dg_link *dg_aligner_links(
    struct dg_aligner *a, uint64_t sentence, int32_t without, size_t *n)
{
    uint32_t s, t;
    size_t kept = 0;
    *n = 0;
    dg_dataset_lengths(a->d, sentence, &s, &t);
    if (s > MAX || t > MAX)
        return a->links;
    dg_dataset_ids(a->d, sentence, a->source, a->target);
    s -= a->source[s - 1] == a->o.eos;
    t -= a->target[t - 1] == a->o.eos;
    dg_lexicon_align(a->there, a->source, s, a->target, t, a->from);
    dg_lexicon_align(a->back, a->target, t, a->source, s, a->to);
    *n = dg_aligner_grow(a->from, t, a->to, s, a->links);
    for (size_t i = 0; i < *n; i++) {
        const int32_t id = a->source[a->links[i].key];
        if ((without < 0 || id != without) && (a->o.unlinked <= 0 || id != a->o.unlinked))
            a->links[kept++] = a->links[i];
    }
    *n = kept;
    return a->links;
}
