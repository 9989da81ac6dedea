/* DESIGN. Direct ways need one pass over all pairs of all bundles: each row of them is a set of
 * languages, one bit each, which is added to the rows of the languages that are near its source.
 * Ways through the pivot need one search for each language, to the pivot or from it. */
#include "server/models/ways.h"

#include "server/models/way_internal.h"
#include "server/models/listing.h"

#include <stdio.h>
#include <stdlib.h>

enum { WORDS = DG_MODELS_MAX / 64 };

/* Requested languages, a bit each. */
struct language_set {
    uint64_t words[WORDS];
};

/* A list of requested languages, as dg_way_find compares them. */
struct side {
    char codes[DG_MODELS_MAX][DG_LANGUAGE_MAX];
    size_t n;
};

static void fill_side(
    const struct dg_models *m, const struct dg_model_languages *languages, struct side *out)
{
    out->n = languages->n;
    for (size_t i = 0; i < out->n; i++)
        dg_way_code(m, languages->codes[i], out->codes[i]);
}

static void add_all(struct language_set *to, const struct language_set *from)
{
    for (size_t i = 0; i < WORDS; i++)
        to->words[i] |= from->words[i];
}

static bool has(const struct language_set *s, size_t i)
{
    return s->words[i / 64] >> i % 64 & 1;
}

/* Returns the requested languages for which this code is served. */
static struct language_set near(const struct side *side, const char *code)
{
    struct language_set s = {0};
    for (size_t i = 0; i < side->n; i++)
        if (dg_language_canonical_distance(side->codes[i], code) >= 0)
            s.words[i / 64] |= (uint64_t)1 << i % 64;
    return s;
}

struct search {
    /* referenced */
    struct dg_listing *list[DG_MODELS_MAX];
    size_t n;
    struct side sources, targets;
    /* [sources] the targets of direct ways */
    struct language_set direct[DG_MODELS_MAX];
    /* [sources], [targets] whether there is a way to the pivot, and from it */
    bool to_pivot[DG_MODELS_MAX], from_pivot[DG_MODELS_MAX];
};

/* Adds the pairs of l. False: no memory. */
static bool add_direct(struct search *s, const struct dg_listing *l)
{
    size_t n;
    dg_bundle_languages(l->bundle, &n);
    struct language_set *near_target = calloc(n, sizeof *near_target);
    if (!near_target)
        return false;
    for (size_t i = 0; i < n; i++)
        near_target[i] = near(&s->targets, l->codes[i]);
    for (size_t i = 0; i < n; i++) {
        struct language_set row = {0};
        for (size_t p = l->first[i]; p < l->first[i + 1]; p++)
            add_all(&row, &near_target[l->pairs[p].target]);
        const struct language_set near_source = near(&s->sources, l->codes[i]);
        for (size_t k = 0; k < s->sources.n; k++)
            if (has(&near_source, k))
                add_all(&s->direct[k], &row);
    }
    free(near_target);
    return true;
}

static void find_pivots(struct search *s, const char *pivot, struct dg_ways *out)
{
    for (size_t i = 0; i < s->sources.n; i++) {
        const struct dg_way_found f =
            dg_way_find(s->list, s->n, s->sources.codes[i], pivot, DG_WAY_LARGEST);
        s->to_pivot[i] = f.distance >= 0;
        if (s->to_pivot[i])
            snprintf(out->through[i], sizeof out->through[i], "%s", f.pair[1]);
    }
    for (size_t k = 0; k < s->targets.n; k++)
        s->from_pivot[k] =
            dg_way_find(s->list, s->n, pivot, s->targets.codes[k], DG_WAY_LARGEST).distance >= 0;
}

static enum dg_way_kind kind_of(const struct search *s, size_t source, size_t target)
{
    const char *from = s->sources.codes[source], *to = s->targets.codes[target];
    if (has(&s->direct[source], target))
        return DG_WAY_DIRECT;
    if (dg_way_same_language(from, to))
        return dg_way_find_same(s->list, s->n, from, to).distance >= 0 ? DG_WAY_SAME : DG_WAY_NONE;
    return s->to_pivot[source] && s->from_pivot[target] ? DG_WAY_PIVOT : DG_WAY_NONE;
}

struct dg_ways *dg_models_ways(struct dg_models *m, const struct dg_model_languages *sources,
    const struct dg_model_languages *targets)
{
    struct search *s = calloc(1, sizeof *s);
    struct dg_ways *out = calloc(1, sizeof *out);
    bool whole = s && out;
    if (whole) {
        fill_side(m, sources, &s->sources);
        fill_side(m, targets, &s->targets);
        s->n = dg_models_listings(m, s->list, NULL);
    }
    for (size_t i = 0; whole && i < s->n; i++)
        whole = add_direct(s, s->list[i]);
    if (whole)
        find_pivots(s, m->pivot_code, out);
    for (size_t i = 0; whole && i < sources->n; i++)
        for (size_t k = 0; k < targets->n; k++)
            out->kinds[i][k] = (unsigned char)kind_of(s, i, k);
    for (size_t i = 0; s && i < s->n; i++)
        dg_listing_unref(s->list[i]);
    free(s);
    if (!whole) {
        free(out);
        out = NULL;
    }
    return out;
}
