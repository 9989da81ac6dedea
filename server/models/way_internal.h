/* Shared by way.c and ways.c: the search for a pair. Any thread; lists are the models' with their
 * lock, or references. */
#ifndef DG_SERVER_MODELS_WAY_INTERNAL_H
#define DG_SERVER_MODELS_WAY_INTERNAL_H

#include "server/models/internal.h"

/* A pair that a model serves, and its distance from the requested pair. */
struct dg_way_found {
    struct dg_listing *listing;
    const char *pair[2];
    /* its index in the bundle */
    uint32_t at;
    /* -1: none */
    int distance;
    bool source_known;
};

/* Which model is used if several serve equally near pairs. */
enum dg_way_preference {
    /* The one made for the fewest pairs: a model trained for one pair is better at it than a model
     * trained for many. */
    DG_WAY_SPECIALISED,
    /* The one with the most parameters: errors of two hops add up. */
    DG_WAY_LARGEST,
};

/* The canonical form of a requested code's meaning by the aliases; "": too long for a code. */
void dg_way_code(const struct dg_models *m, const char *asked, char out[DG_LANGUAGE_MAX]);
/* Codes of the following are in that form; "" finds nothing.
 * Find the nearest pair; of equally near ones that of the preferred model, else of the first, in
 * the order of the directories' names. */
struct dg_way_found dg_way_find(struct dg_listing *const *list, size_t n, const char *source,
    const char *target, enum dg_way_preference preference);
/* True if both are the same language: a detour through the pivot would only paraphrase. */
bool dg_way_same_language(const char *a, const char *b);
/* Find a model that has the language, which is the same on both sides, in any of its pairs; the
 * codes are in that model's spelling. */
struct dg_way_found dg_way_find_same(
    struct dg_listing *const *list, size_t n, const char *a, const char *b);

#endif
