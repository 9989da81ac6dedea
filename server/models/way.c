/* Finds the model, or the two models, that translate a requested pair. */
#include "server/models/internal.h"

#include "server/models/languages.h"
#include "server/models/listing.h"
#include "text/language_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A pair that a model serves, and its distance from the requested pair. */
struct found {
    struct dg_listing *listing;
    const char *pair[2];
    /* -1: none yet */
    int distance;
    bool source_known;
};

/* The source of the previous pair and its distance, which is computed once for pairs in a row: a
 * model of two hundred languages has forty thousand pairs, grouped by source. */
struct last_source {
    const char *code;
    int distance;
};

static void look_at_pair(struct dg_listing *l, size_t i, const char *source, const char *target,
    struct last_source *last, struct found *best)
{
    const char *from, *to;
    dg_bundle_pair(l->bundle, i, &from, &to);
    if (last->code != from)
        *last = (struct last_source){from, dg_language_distance(source, from)};
    const int a = last->distance;
    if (a < 0)
        return;
    best->source_known = true;
    int b = dg_language_distance(target, to);
    if (b < 0 || (best->distance >= 0 && a + b >= best->distance))
        return;
    *best = (struct found){l, {from, to}, a + b, true};
}

/* Which model is used if several serve equally near pairs. */
enum preference {
    /* The one made for the fewest pairs: a model trained for one pair is better at it than a model
     * trained for many. */
    SPECIALISED,
    /* The one with the most parameters: errors of two hops add up. */
    LARGEST,
};

static bool is_preferred(
    const struct dg_listing *a, const struct dg_listing *b, enum preference preference)
{
    if (preference == SPECIALISED)
        return dg_bundle_pairs(a->bundle) < dg_bundle_pairs(b->bundle);
    return dg_config_parameters(&a->config) > dg_config_parameters(&b->config);
}

/* Finds the nearest pair; of equally near ones that of the preferred model, else of the first, in
 * the order of the directories' names. Lock held. */
static struct found find(
    const struct dg_models *m, const char *source, const char *target, enum preference preference)
{
    struct found best = {.distance = -1};
    for (size_t i = 0; i < m->n; i++) {
        struct found own = {.distance = -1};
        struct last_source last = {NULL, -1};
        for (size_t p = 0; p < dg_bundle_pairs(m->list[i]->bundle); p++)
            look_at_pair(m->list[i], p, source, target, &last, &own);
        const bool known = best.source_known || own.source_known;
        if (own.distance >= 0 && (best.distance < 0 || own.distance < best.distance ||
                                     (own.distance == best.distance &&
                                         is_preferred(own.listing, best.listing, preference))))
            best = own;
        best.source_known = known;
    }
    return best;
}

static void add_hop(struct dg_way *way, const struct found *f)
{
    dg_listing_ref(f->listing);
    way->hops[way->n].listing = f->listing;
    way->hops[way->n].pair[0] = f->pair[0];
    way->hops[way->n++].pair[1] = f->pair[1];
}

/* True if both are the same language: a detour through the pivot would only paraphrase. */
static bool same_language(const char *a, const char *b)
{
    return dg_language_distance(a, b) >= 0 || dg_language_distance(b, a) >= 0;
}

/* Finds a model that has the language, which is the same on both sides, in any of its pairs; the
 * codes are in that model's spelling. Lock held. */
static struct found find_same(const struct dg_models *m, const char *a, const char *b)
{
    struct found f = {.distance = -1};
    if (dg_language_distance(a, b) != 0)
        return f;
    for (size_t i = 0; i < m->n; i++) {
        size_t n;
        const struct dg_bundle_language *list = dg_bundle_languages(m->list[i]->bundle, &n);
        for (size_t k = 0; k < n; k++) {
            const int distance = dg_language_distance(a, list[k].code);
            if (distance >= 0 && (f.distance < 0 || distance < f.distance))
                f = (struct found){m->list[i], {list[k].code, list[k].code}, distance, true};
        }
    }
    return f;
}

static bool is_code(const char *s)
{
    const size_t n = strlen(s);
    return n >= 2 && n <= 16 &&
           strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == n;
}

/* Writes the code as Firefox does: the language in lower case. */
static void firefox_code(const char *code, char out[17])
{
    size_t n = 0;
    bool language = true;
    for (; n < 16 && code[n] != '\0'; n++) {
        language = language && code[n] != '-';
        out[n] = language ? (char)tolower((unsigned char)code[n]) : code[n];
    }
    out[n] = '\0';
}

static bool is_english(const char *language)
{
    return dg_language_distance(language, "en") == 0;
}

/* Firefox's models all have English on one side. */
void dg_way_command(const char *source, const char *target, char out[DG_WAY_COMMAND])
{
    char from[17], to[17];
    out[0] = '\0';
    if (!source || strcasecmp(source, "auto") == 0)
        source = "en";
    if (!target)
        target = "en";
    const bool from_english = is_english(source), to_english = is_english(target);
    if (!is_code(source) || !is_code(target) || !dg_language_known(source) ||
        !dg_language_known(target) || (from_english && to_english))
        return;
    firefox_code(source, from);
    firefox_code(target, to);
    if (from_english || to_english)
        snprintf(out, DG_WAY_COMMAND, "; to install one: dragoman pull firefox/%s-%s", from, to);
    else
        snprintf(out, DG_WAY_COMMAND,
            "; to install some: dragoman pull firefox/%s-en firefox/en-%s", from, to);
}

static int refuse(const char *source, const char *target, const struct found *direct,
    bool may_pivot, struct dg_error *err)
{
    char command[DG_WAY_COMMAND] = "";
    /* two models through English are of no use to a route that takes one */
    if (may_pivot || !direct->source_known || is_english(source) || is_english(target))
        dg_way_command(source, target, command);
    if (!direct->source_known)
        return dg_error_field(
            err, DG_ENOTFOUND, "source", "no model translates from \"%.32s\"%s", source, command);
    return dg_error_field(err, DG_ENOTFOUND, "target",
        "no model translates from \"%.32s\" to \"%.32s\"%s%s", source, target,
        may_pivot ? "" : " directly: this needs one model that has the pair", command);
}

int dg_models_way(struct dg_models *m, const char *source, const char *target, bool may_pivot,
    struct dg_way *out, struct dg_error *err)
{
    char a[DG_LANGUAGE_MAX], b[DG_LANGUAGE_MAX];
    const char *from = dg_language_alias(m->aliases, source, a);
    const char *to = dg_language_alias(m->aliases, target, b);
    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&m->lock);
    struct found direct = find(m, from, to, SPECIALISED);
    if (direct.distance >= 0) {
        add_hop(out, &direct);
    } else if (may_pivot && same_language(from, to)) {
        struct found same = find_same(m, from, to);
        if (same.distance >= 0)
            add_hop(out, &same);
        out->same = out->n > 0;
    } else if (may_pivot && strcmp(m->pivot, "off") != 0) {
        struct found first = find(m, from, m->pivot, LARGEST),
                     second = find(m, m->pivot, to, LARGEST);
        if (first.distance >= 0 && second.distance >= 0) {
            add_hop(out, &first);
            add_hop(out, &second);
        }
    }
    pthread_mutex_unlock(&m->lock);
    if (out->n > 0)
        return DG_OK;
    return refuse(source, target, &direct, may_pivot, err);
}

void dg_way_release(struct dg_way *way)
{
    for (size_t i = 0; i < way->n; i++)
        dg_listing_unref(way->hops[i].listing);
    way->n = 0;
}

static bool has_language(struct dg_models *m, unsigned which, const char *code)
{
    struct dg_model_languages *list = malloc(sizeof *list);
    bool found = !list; /* out of memory: does not report the language as missing */
    if (list)
        dg_models_languages(m, which, list);
    for (size_t i = 0; list && i < list->n && !found; i++)
        found = dg_language_distance(code, list->codes[i]) >= 0;
    free(list);
    return found;
}

bool dg_models_has_pivot(struct dg_models *m)
{
    return strcmp(m->pivot, "off") == 0 ||
           (has_language(m, DG_SOURCES, m->pivot) && has_language(m, DG_TARGETS, m->pivot));
}
