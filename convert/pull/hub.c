/* Repositories of Hugging Face's hub, or of a mirror of it: the files that a converter reads, with
 * the hashes that the hub gives (SHA-256 of large files, git's of small ones). */
#include "convert/pull/sources.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *text(const struct dg_json *o, const char *key)
{
    const char *s = dg_json_string(dg_json_get(o, key), NULL);
    return s ? s : "";
}

static bool begins_with(const char *s, const char *begin)
{
    return strncmp(s, begin, strlen(begin)) == 0;
}

static const struct dg_json *file_named(const struct dg_json *siblings, const char *name)
{
    for (size_t i = 0; i < dg_json_length(siblings); i++) {
        const struct dg_json *f = dg_json_at(siblings, i);
        if (strcmp(text(f, "rfilename"), name) == 0)
            return f;
    }
    return NULL;
}

static bool has_ending(const struct dg_json *siblings, const char *end)
{
    for (size_t i = 0; i < dg_json_length(siblings); i++)
        if (dg_file_ends_in(text(dg_json_at(siblings, i), "rfilename"), end))
            return true;
    return false;
}

/* Forms in which a repository may have its weights; form_of chooses one. */
enum form { MARIAN_NPZ, SAFETENSORS, PICKLE, CTRANSLATE2, NO_FORM };

static enum form form_of(const struct dg_json *siblings)
{
    if (file_named(siblings, "model.safetensors") ||
        file_named(siblings, "model.safetensors.index.json"))
        return SAFETENSORS;
    if (has_ending(siblings, ".npz"))
        return MARIAN_NPZ;
    if (file_named(siblings, "pytorch_model.bin") ||
        file_named(siblings, "pytorch_model.bin.index.json"))
        return PICKLE;
    return file_named(siblings, "model.bin") ? CTRANSLATE2 : NO_FORM;
}

static bool is_wanted(const char *name, enum form form)
{
    static const char *const always[] = {"config.json", "generation_config.json",
        "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
        "target_vocab.json", "shared_vocabulary.json", "shared_vocabulary.txt",
        "source_vocabulary.json", "source_vocabulary.txt", "target_vocabulary.json",
        "target_vocabulary.txt", "sentencepiece.bpe.model", "sentencepiece.model"};
    if (strchr(name, '/'))
        return false; /* variants for other programs */
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (strcmp(name, always[i]) == 0)
            return true;
    switch (form) {
    case SAFETENSORS:
        return dg_file_ends_in(name, ".spm") ||
               (begins_with(name, "model") &&
                   (dg_file_ends_in(name, ".safetensors") ||
                       dg_file_ends_in(name, ".safetensors.index.json")));
    case PICKLE:
        return dg_file_ends_in(name, ".spm") ||
               (begins_with(name, "pytorch_model") &&
                   (dg_file_ends_in(name, ".bin") || dg_file_ends_in(name, ".bin.index.json")));
    case CTRANSLATE2: return dg_file_ends_in(name, ".spm") || strcmp(name, "model.bin") == 0;
    case MARIAN_NPZ:
        return dg_file_ends_in(name, ".npz") || dg_file_ends_in(name, ".spm") ||
               dg_file_ends_in(name, ".yml");
    case NO_FORM: break;
    }
    return false;
}

static int add_file(
    struct dg_listing *l, const char *prefix, const struct dg_json *sibling, struct dg_error *err)
{
    const struct dg_json *lfs = dg_json_get(sibling, "lfs");
    char url[4096];
    struct dg_listing_file f = {.name = text(sibling, "rfilename"),
        .url = url,
        .size = dg_listing_bytes(dg_json_get(sibling, "size"))};
    snprintf(url, sizeof url, "%.2000s/%.200s", prefix, f.name);
    if (lfs)
        dg_listing_hex(dg_json_get(lfs, "sha256"), DG_SHA256_DIGITS, f.sha256);
    else if (f.size)
        dg_listing_hex(dg_json_get(sibling, "blobId"), DG_GIT_DIGITS, f.git);
    return dg_listing_add(l, &f, err);
}

/* "license" of the card, or "license_name" if that is "other"; without it a tag "license:...". */
static const char *licence_of(const struct dg_json *answer, struct dg_arena *arena)
{
    const struct dg_json *card = dg_json_get(answer, "cardData"),
                         *tags = dg_json_get(answer, "tags");
    const struct dg_json *v = dg_json_get(card, "license");
    const char *s = dg_json_string(dg_json_typeof(v) == DG_JSON_ARRAY ? dg_json_at(v, 0) : v, NULL);
    if (s && strcmp(s, "other") == 0 && text(card, "license_name")[0])
        s = text(card, "license_name");
    for (size_t i = 0; i < dg_json_length(tags) && !s; i++) {
        const char *tag = dg_json_string(dg_json_at(tags, i), NULL);
        if (tag && begins_with(tag, "license:"))
            s = tag + strlen("license:");
    }
    return s && s[0] ? dg_arena_strndup(arena, s, strnlen(s, 200)) : NULL;
}

int dg_hub_find(const struct dg_json *answer, const char *hub, const char *repository,
    struct dg_listing *out, struct dg_error *err)
{
    const struct dg_json *siblings = dg_json_get(answer, "siblings");
    const enum form form = form_of(siblings);
    char commit[DG_GIT_DIGITS + 1], prefix[2100];
    int rc = 0;
    dg_listing_hex(dg_json_get(answer, "sha"), DG_GIT_DIGITS, commit);
    if (!commit[0])
        return dg_error_set(
            err, DG_EFORMAT, "the hub's answer about %s has no sha of a commit", repository);
    if (form == NO_FORM)
        return dg_error_set(err, DG_EUNSUP,
            "%s has no weights that can be converted: no model.safetensors, pytorch_model.bin, "
            "model.bin or .npz",
            repository);
    snprintf(prefix, sizeof prefix, "%.1000s/%.300s/resolve/%s", hub, repository, commit);
    for (size_t i = 0; i < dg_json_length(siblings) && !rc; i++) {
        const struct dg_json *f = dg_json_at(siblings, i);
        if (is_wanted(text(f, "rfilename"), form))
            rc = add_file(out, prefix, f, err);
    }
    out->licence = licence_of(answer, &out->arena);
    return rc;
}

int dg_hub_list(const struct dg_json *answer, struct dg_buffer *out, struct dg_error *err)
{
    static const char begin[] = "Helsinki-NLP/opus-mt-";
    if (dg_json_typeof(answer) != DG_JSON_ARRAY)
        return dg_error_set(
            err, DG_EFORMAT, "this is not a list of the hub's models: expected an array");
    for (size_t i = 0; i < dg_json_length(answer); i++) {
        const struct dg_json *m = dg_json_at(answer, i);
        const char *id = text(m, "id")[0] ? text(m, "id") : text(m, "modelId");
        if (begins_with(id, begin))
            dg_buffer_addf(out, "opus-mt/%.100s\n", id + strlen(begin));
    }
    return 0;
}
