#include "translate/translator/pair_search.h"

#include "base/fields.h"
#include "weights/bundle.h"

#include <stdio.h>
#include <stdlib.h>

#define AT(member) DG_FIELD_AT(struct dg_pair_search, member)

static const struct dg_field rows[] = {
    {"length_penalty", DG_FIELD_REAL, AT(length_penalty), 0, 10, .flags = DG_FIELD_REQUIRED},
    {"length_penalty_cap", DG_FIELD_REAL, AT(length_penalty_cap), 0, 10, .fallback = "0",
        .flags = DG_FIELD_UNWRITTEN},
};

static const char key[] = "pair_decoding";

/* "en-de": two languages of at most 35 characters each. */
static void name_pair(char out[80], const char *source, const char *target)
{
    snprintf(out, 80, "%s-%s", source, target);
}

int dg_pair_search_read(const struct dg_bundle *b, const struct dg_json *manifest,
    struct dg_pair_search **out, struct dg_error *err)
{
    const struct dg_json *all = dg_json_get(manifest, key);
    const size_t n = dg_bundle_pairs(b);
    struct dg_pair_search *list = calloc(n, sizeof *list);
    size_t found = 0;
    int rc = list ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for the pairs' searches");
    for (size_t i = 0; i < n && !rc; i++) {
        const char *source, *target;
        char name[80], where[sizeof key + sizeof name];
        dg_bundle_pair(b, i, &source, &target);
        name_pair(name, source, target);
        const struct dg_json *of = dg_json_get(all, name);
        const struct dg_fields t = {rows, DG_FIELD_COUNT(rows), &list[i], NULL, NULL};
        list[i].length_penalty = -1;
        snprintf(where, sizeof where, "%s.%s", key, name);
        found += of != NULL;
        if (of)
            rc = dg_fields_from_json(&t, where, of, DG_FROM_FILE, err);
    }
    if (!rc && found != dg_json_length(all))
        rc = dg_error_field(err, DG_EINVAL, key,
            "%s has %zu members, of which %zu are pairs of this bundle, written as \"en-de\"", key,
            dg_json_length(all), found);
    if (!rc)
        *out = list;
    else
        free(list);
    return rc;
}

int dg_pair_search_write(
    struct dg_json *manifest, const char *source, const char *target, struct dg_pair_search s)
{
    const struct dg_json *now = dg_json_get(manifest, key);
    const struct dg_fields t = {rows, DG_FIELD_COUNT(rows), &s, NULL, NULL};
    struct dg_json *all = now ? dg_json_copy(now) : dg_json_new_object();
    struct dg_json *of = dg_json_new_object();
    char name[80];
    name_pair(name, source, target);
    int rc = dg_fields_to_json(&t, of);
    if (dg_json_set_take(all, name, of))
        rc = DG_ENOMEM;
    return dg_json_set_take(manifest, key, all) || rc ? DG_ENOMEM : 0;
}

void dg_pair_search_remove(struct dg_json *manifest, const char *source, const char *target)
{
    struct dg_json *all = dg_json_get(manifest, key);
    char name[80];
    name_pair(name, source, target);
    dg_json_remove(all, name);
    if (!dg_json_length(all))
        dg_json_remove(manifest, key);
}
