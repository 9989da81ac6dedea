#include "convert/tags.h"

#include "convert/output.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NO_MEMORY(err) dg_error_set(err, DG_ENOMEM, "no memory for the manifest's languages")

bool dg_convert_tag_read(
    const char *piece, char written[DG_LANGUAGE_BYTES], char code[DG_LANGUAGE_BYTES])
{
    const size_t n = strlen(piece);
    if (n < 5 || n - 4 >= DG_LANGUAGE_BYTES || strncmp(piece, ">>", 2) != 0 ||
        strcmp(piece + n - 2, "<<") != 0)
        return false;
    snprintf(written, DG_LANGUAGE_BYTES, "%.*s", (int)(n - 4), piece + 2);
    return dg_language_tag(written, code);
}

/* Find the tag of a language by its written form, or else by BCP 47; any tag if `code` is NULL.
 * NULL: none. */
static const char *find_tag(const struct dg_convert_vocab *v, const char *code)
{
    char wanted[DG_LANGUAGE_BYTES], written[DG_LANGUAGE_BYTES], tag[DG_LANGUAGE_BYTES];
    const char *found = NULL;
    if (code && !dg_language_tag(code, wanted))
        return NULL;
    for (uint32_t i = 0; i < v->size; i++) {
        if (!dg_convert_tag_read(v->pieces[i], written, tag))
            continue;
        if (!code || strcasecmp(written, code) == 0)
            return v->pieces[i];
        if (!found && strcasecmp(tag, wanted) == 0)
            found = v->pieces[i];
    }
    return found;
}

/* Add a pair for each code, and the tag that requests it. */
static int write_tagged(const struct dg_convert_vocab *v, const char *source, const char *targets,
    struct dg_json *manifest, struct dg_error *err)
{
    struct dg_json *tags = dg_json_new_object();
    int rc = tags ? 0 : NO_MEMORY(err);
    for (const char *p = targets; p && !rc; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        char code[DG_LANGUAGE_BYTES];
        const size_t n = strcspn(p, ",");
        snprintf(code, sizeof code, "%.*s", (int)(n < sizeof code ? n : 0), p);
        const char *tag = find_tag(v, code);
        if (!tag)
            rc = dg_error_field(err, DG_EINVAL, "target_lang",
                "the model has tags of languages, such as %s, and none for \"%.*s\"",
                find_tag(v, NULL), (int)(n < 60 ? n : 60), p);
        else if (dg_json_get(tags, code))
            rc = dg_error_field(err, DG_EINVAL, "target_lang", "--target-lang has %s twice", code);
        else if (!(rc = dg_convert_output_pair(manifest, source, code, err)) &&
                 dg_json_set_string(tags, code, tag))
            rc = NO_MEMORY(err);
    }
    if (rc) {
        dg_json_free(tags);
        return rc;
    }
    return dg_json_set_take(manifest, "tags", tags) ? NO_MEMORY(err) : 0;
}

int dg_convert_tags_write(const struct dg_convert_vocab *v, const char *source, const char *targets,
    struct dg_json *manifest, struct dg_error *err)
{
    if (find_tag(v, NULL))
        return write_tagged(v, source, targets, manifest, err);
    if (strchr(targets, ','))
        return dg_error_field(err, DG_EINVAL, "target_lang",
            "--target-lang is \"%.60s\", but the model has no tags of languages: one is expected",
            targets);
    return dg_convert_output_pair(manifest, source, targets, err);
}
