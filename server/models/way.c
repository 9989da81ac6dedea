/* Finds the model, or the two models, that translate a requested pair. */
#include "server/models/way_internal.h"

#include "model/params.h"
#include "server/models/languages.h"
#include "server/models/listing.h"
#include "text/language_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_preferred(
    const struct dg_listing *a, const struct dg_listing *b, enum dg_way_preference preference)
{
    if (preference == DG_WAY_SPECIALISED)
        return dg_bundle_pairs(a->bundle) < dg_bundle_pairs(b->bundle);
    return dg_params_elements(&a->config) > dg_params_elements(&b->config);
}

/* Looks at the pairs of one source language, at this distance from the requested one. */
static void look_at_source(struct dg_listing *l, size_t source, int distance, const char *target,
    struct dg_way_found *best)
{
    for (size_t i = l->first[source]; i < l->first[source + 1]; i++) {
        const struct dg_listing_pair *p = &l->pairs[i];
        const int b = dg_language_canonical_distance(target, l->codes[p->target]);
        if (b < 0 || (best->distance >= 0 && distance + b > best->distance) ||
            (distance + b == best->distance && p->at > best->at))
            continue;
        best->listing = l;
        dg_bundle_pair(l->bundle, p->at, &best->pair[0], &best->pair[1]);
        best->at = p->at;
        best->distance = distance + b;
    }
}

static struct dg_way_found find_in(struct dg_listing *l, const char *source, const char *target)
{
    struct dg_way_found own = {.distance = -1};
    size_t n;
    dg_bundle_languages(l->bundle, &n);
    for (size_t i = 0; i < n; i++) {
        if (l->first[i] == l->first[i + 1])
            continue;
        const int distance = dg_language_canonical_distance(source, l->codes[i]);
        if (distance < 0)
            continue;
        own.source_known = true;
        look_at_source(l, i, distance, target, &own);
    }
    return own;
}

struct dg_way_found dg_way_find(struct dg_listing *const *list, size_t n, const char *source,
    const char *target, enum dg_way_preference preference)
{
    struct dg_way_found best = {.distance = -1};
    for (size_t i = 0; i < n; i++) {
        const struct dg_way_found own = find_in(list[i], source, target);
        const bool known = best.source_known || own.source_known;
        if (own.distance >= 0 && (best.distance < 0 || own.distance < best.distance ||
                                     (own.distance == best.distance &&
                                         is_preferred(own.listing, best.listing, preference))))
            best = own;
        best.source_known = known;
    }
    return best;
}

static void add_hop(struct dg_way *way, const struct dg_way_found *f)
{
    dg_listing_ref(f->listing);
    way->hops[way->n].listing = f->listing;
    way->hops[way->n].pair[0] = f->pair[0];
    way->hops[way->n++].pair[1] = f->pair[1];
}

bool dg_way_same_language(const char *a, const char *b)
{
    return dg_language_canonical_distance(a, b) >= 0 || dg_language_canonical_distance(b, a) >= 0;
}

struct dg_way_found dg_way_find_same(
    struct dg_listing *const *list, size_t n, const char *a, const char *b)
{
    struct dg_way_found f = {.distance = -1};
    if (dg_language_canonical_distance(a, b) != 0)
        return f;
    for (size_t i = 0; i < n; i++) {
        size_t languages;
        const struct dg_bundle_language *own = dg_bundle_languages(list[i]->bundle, &languages);
        for (size_t k = 0; k < languages; k++) {
            const int distance = dg_language_canonical_distance(a, list[i]->codes[k]);
            if (distance >= 0 && (f.distance < 0 || distance < f.distance))
                f = (struct dg_way_found){.listing = list[i],
                    .pair = {own[k].code, own[k].code},
                    .distance = distance,
                    .source_known = true};
        }
    }
    return f;
}

void dg_way_code(const struct dg_models *m, const char *asked, char out[DG_LANGUAGE_MAX])
{
    char meant[DG_LANGUAGE_MAX];
    if (!dg_language_canonical(dg_language_alias(m->o.aliases, asked, meant), out))
        out[0] = '\0';
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

static int refuse(const char *source, const char *target, const struct dg_way_found *direct,
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
    char from[DG_LANGUAGE_MAX], to[DG_LANGUAGE_MAX];
    dg_way_code(m, source, from);
    dg_way_code(m, target, to);
    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&m->lock);
    struct dg_way_found direct = dg_way_find(m->list, m->n, from, to, DG_WAY_SPECIALISED);
    if (direct.distance >= 0) {
        add_hop(out, &direct);
    } else if (may_pivot && dg_way_same_language(from, to)) {
        struct dg_way_found same = dg_way_find_same(m->list, m->n, from, to);
        if (same.distance >= 0)
            add_hop(out, &same);
        out->same = out->n > 0;
    } else if (may_pivot) {
        struct dg_way_found first = dg_way_find(m->list, m->n, from, m->pivot_code, DG_WAY_LARGEST),
                            second = dg_way_find(m->list, m->n, m->pivot_code, to, DG_WAY_LARGEST);
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
