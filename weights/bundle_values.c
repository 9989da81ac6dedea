/* A bundle's manifest values other than files and pairs. */
#include "weights/bundle.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *dg_bundle_tag(const struct dg_bundle *b, const char *target)
{
    return dg_json_string(dg_json_get(dg_json_get(dg_bundle_manifest(b), "tags"), target), NULL);
}

const char *dg_bundle_licence(const struct dg_bundle *b)
{
    return dg_json_string(dg_json_get(dg_bundle_manifest(b), "licence"), NULL);
}

/* Finds "-nc" as a separate part: CC-BY-NC-4.0, cc-by-nc-sa. */
bool dg_licence_is_non_commercial(const char *licence)
{
    for (const char *s = licence; *s; s++)
        if ((*s == '-' || *s == ' ') && strncasecmp(s + 1, "nc", 2) == 0 &&
            !isalnum((unsigned char)s[3]))
            return true;
    return strcasestr(licence, "non-commercial") || strcasestr(licence, "noncommercial");
}

bool dg_bundle_is_non_commercial(const struct dg_bundle *b)
{
    return dg_bundle_licence(b) && dg_licence_is_non_commercial(dg_bundle_licence(b));
}

const char *dg_bundle_source_tag(const struct dg_bundle *b, const char *source)
{
    return dg_json_string(
        dg_json_get(dg_json_get(dg_bundle_manifest(b), "source_tags"), source), NULL);
}

const char *dg_bundle_target_tag(const struct dg_bundle *b, const char *target)
{
    return dg_json_string(
        dg_json_get(dg_json_get(dg_bundle_manifest(b), "target_tags"), target), NULL);
}

const char *dg_bundle_rare(const struct dg_bundle *b)
{
    const char *rare = dg_json_string(dg_json_get(dg_bundle_manifest(b), "rare"), NULL);
    return rare ? rare : "";
}

size_t dg_bundle_reserved_count(const struct dg_bundle *b)
{
    return dg_json_length(dg_json_get(dg_bundle_manifest(b), "reserved"));
}

const char *dg_bundle_reserved(const struct dg_bundle *b, size_t i)
{
    return dg_json_string(dg_json_at(dg_json_get(dg_bundle_manifest(b), "reserved"), i), NULL);
}

bool dg_bundle_capitals_as_words(const struct dg_bundle *b)
{
    const char *capitals = dg_json_string(dg_json_get(dg_bundle_manifest(b), "capitals"), NULL);
    return capitals && !strcmp(capitals, "as_words");
}

bool dg_bundle_answers_trees(const struct dg_bundle *b)
{
    const char *answers = dg_json_string(dg_json_get(dg_bundle_manifest(b), "answers"), NULL);
    return answers && !strcmp(answers, "trees");
}
