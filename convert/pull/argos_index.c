/* The index of Argos packages: an array with a record for each package, without sizes or hashes. */
#include "convert/ctranslate2/argos.h"
#include "convert/pull/sources.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *text(const struct dg_json *o, const char *key)
{
    const char *s = dg_json_string(dg_json_get(o, key), NULL);
    return s ? s : "";
}

/* Is this the record's pair, in Argos's own codes or in BCP 47's? */
static bool is_pair_of(const struct dg_json *r, const char *pair)
{
    const char *from = text(r, "from_code"), *to = text(r, "to_code");
    const char *const sources[] = {from, dg_argos_language(from)};
    const char *const targets[] = {to, dg_argos_language(to)};
    for (int i = 0; i < 4; i++)
        if (dg_listing_is_pair(pair, sources[i & 1], targets[i >> 1]))
            return true;
    return false;
}

static const char *link_of(const struct dg_json *r)
{
    const struct dg_json *links = dg_json_get(r, "links");
    for (size_t i = 0; i < dg_json_length(links); i++) {
        const char *s = dg_json_string(dg_json_at(links, i), NULL);
        if (s && strncasecmp(s, "https://", 8) == 0)
            return s;
    }
    return NULL;
}

static bool is_translation(const struct dg_json *r)
{
    const char *type = text(r, "type");
    return (!type[0] || strcmp(type, "translate") == 0) && text(r, "from_code")[0] &&
           text(r, "to_code")[0];
}

static int no_index(struct dg_error *err)
{
    return dg_error_set(
        err, DG_EFORMAT, "this is not an index of Argos packages: expected an array");
}

int dg_argos_find(
    const struct dg_json *index, const char *pair, struct dg_listing *out, struct dg_error *err)
{
    const struct dg_json *best = NULL;
    if (dg_json_typeof(index) != DG_JSON_ARRAY)
        return no_index(err);
    for (size_t i = 0; i < dg_json_length(index); i++) {
        const struct dg_json *r = dg_json_at(index, i);
        if (is_translation(r) && is_pair_of(r, pair) &&
            (!best || strverscmp(text(r, "package_version"), text(best, "package_version")) > 0))
            best = r;
    }
    if (!best)
        return dg_error_set(err, DG_ENOTFOUND,
            "argos has no %s; `dragoman pull --list argos` lists its models", pair);
    const char *url = link_of(best), *slash = url ? strrchr(url, '/') : NULL;
    if (!slash)
        return dg_error_set(err, DG_EUNSUP, "argos has no link with https:// to %s", pair);
    char id[200];
    snprintf(id, sizeof id, "argos/%.40s-%.40s", text(best, "from_code"), text(best, "to_code"));
    out->id = dg_arena_strdup(&out->arena, id);
    out->note = "the index has neither size nor hash of a package";
    const struct dg_listing_file f = {.name = slash + 1, .url = url};
    return out->id ? dg_listing_add(out, &f, err)
                   : dg_error_set(err, DG_ENOMEM, "no memory for a listing");
}

int dg_argos_list(const struct dg_json *index, struct dg_buffer *out, struct dg_error *err)
{
    if (dg_json_typeof(index) != DG_JSON_ARRAY)
        return no_index(err);
    for (size_t i = 0; i < dg_json_length(index); i++) {
        const struct dg_json *r = dg_json_at(index, i);
        char id[200];
        snprintf(id, sizeof id, "argos/%.40s-%.40s", text(r, "from_code"), text(r, "to_code"));
        if (is_translation(r))
            dg_buffer_addf(out, "%-20s %-10.20s %.60s to %.60s\n", id, text(r, "package_version"),
                text(r, "from_name"), text(r, "to_name"));
    }
    return 0;
}
