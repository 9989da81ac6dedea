#include "convert/bergamot/bergamot.h"

#include "base/buffer.h"
#include "base/file.h"
#include "convert/yaml.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSE(code, ...) dg_error_field(err, code, "dir", __VA_ARGS__)

/* File names in the folder. */
struct folder {
    const char *dir;
    /* "": none */
    char model[256], vocabs[2][256], shortlist[256];
};

/* Find the only name that matches the pattern; "" if there is none and none is required. */
static int find_name(
    const struct folder *f, const char *pattern, bool required, char out[256], struct dg_error *err)
{
    DIR *d = opendir(f->dir);
    if (!d)
        return REFUSE(DG_ENOTFOUND, "%s is not a readable folder", f->dir);
    int rc = 0;
    out[0] = '\0';
    for (const struct dirent *e; (e = readdir(d)) && !rc;) {
        if (fnmatch(pattern, e->d_name, 0) != 0 || strlen(e->d_name) > 255)
            continue;
        if (out[0])
            rc = REFUSE(
                DG_EFORMAT, "%s has %s and %s, expected one of them", f->dir, out, e->d_name);
        snprintf(out, 256, "%s", e->d_name);
    }
    closedir(d);
    if (!rc && !out[0] && required)
        rc = REFUSE(DG_ENOTFOUND, "%s has no %s%s", f->dir, pattern,
            " (unpack files that end in .gz or .zst first)");
    return rc;
}

/* Read item i of a list (or the one scalar) in the configuration: a file name in the folder. */
static int take_name(
    const struct dg_yaml *yml, const char *key, size_t i, char out[256], struct dg_error *err)
{
    const struct dg_yaml_entry *e = dg_yaml_find(yml, key);
    out[0] = '\0';
    if (!e || i >= (e->is_list ? e->n_items : 1))
        return 0;
    const char *name = e->items[i];
    name += strncmp(name, "./", 2) == 0 ? 2 : 0;
    if (!name[0] || strchr(name, '/') || name[0] == '.' || strlen(name) > 255)
        return REFUSE(DG_EUNSUP, "the configuration's %s is \"%.100s\", not a file of the folder",
            key, e->items[i]);
    snprintf(out, 256, "%s", name);
    return 0;
}

static int read_config(struct folder *f, const char *name, struct dg_error *err)
{
    struct dg_buffer text;
    struct dg_yaml *yml = NULL;
    char *path = dg_file_join(f->dir, name);
    dg_buffer_init(&text);
    int rc = path ? dg_file_read(path, &text, err)
                  : dg_error_set(err, DG_ENOMEM, "no memory for a path");
    if (!rc)
        rc = dg_yaml_parse(text.data ? text.data : "", text.len, name, &yml, err);
    if (!rc)
        rc = take_name(yml, "models", 0, f->model, err);
    for (size_t i = 0; i < 2 && !rc; i++)
        rc = take_name(yml, "vocabs", i, f->vocabs[i], err);
    if (!rc)
        rc = take_name(yml, "shortlist", 0, f->shortlist, err);
    if (!rc && dg_yaml_find(yml, "models") && dg_yaml_find(yml, "models")->n_items > 1)
        rc = REFUSE(DG_EUNSUP, "%s names several models: an ensemble is not supported", name);
    dg_yaml_free(yml);
    dg_buffer_deinit(&text);
    free(path);
    return rc;
}

static int find_files(struct folder *f, struct dg_error *err)
{
    char config[256];
    int rc = find_name(f, "config*.yml", false, config, err);
    if (!rc && config[0])
        rc = read_config(f, config, err);
    if (!rc && !f->model[0])
        rc = find_name(f, "model*.bin", true, f->model, err);
    if (!rc && !f->vocabs[0][0])
        rc = find_name(f, "vocab*.spm", false, f->vocabs[0], err);
    if (!rc && !f->vocabs[0][0]) {
        rc = find_name(f, "srcvocab*.spm", true, f->vocabs[0], err);
        if (!rc)
            rc = find_name(f, "trgvocab*.spm", true, f->vocabs[1], err);
    }
    if (!rc && !config[0])
        rc = find_name(f, "lex*.bin", false, f->shortlist, err);
    return rc;
}

/* Read the languages of a name like "model.ende.intgemm.bin": two codes of two letters. */
static bool take_languages(const char *model, char source[3], char target[3])
{
    char codes[5] = "";
    int end = 0;
    if (sscanf(model, "model.%4[a-z].%n", codes, &end) != 1 || !end || strlen(codes) != 4)
        return false;
    snprintf(source, 3, "%.2s", codes);
    snprintf(target, 3, "%.2s", codes + 2);
    return true;
}

static int convert(
    const struct folder *f, const struct dg_convert_marian *given, struct dg_error *err)
{
    struct dg_convert_marian o = *given;
    const bool two = f->vocabs[1][0] && strcmp(f->vocabs[0], f->vocabs[1]) != 0;
    char source[3], target[3];
    char *paths[4] = {dg_file_join(f->dir, f->model), dg_file_join(f->dir, f->vocabs[0]),
        two ? dg_file_join(f->dir, f->vocabs[1]) : NULL,
        f->shortlist[0] ? dg_file_join(f->dir, f->shortlist) : NULL};
    o.model = paths[0];
    o.source_vocab = paths[1];
    o.target_vocab = paths[2];
    o.shortlist = paths[3];
    if ((!o.to.source_lang || !o.to.target_lang) && take_languages(f->model, source, target)) {
        o.to.source_lang = o.to.source_lang ? o.to.source_lang : source;
        o.to.target_lang = o.to.target_lang ? o.to.target_lang : target;
    }
    int rc =
        !o.model || !o.source_vocab || (two && !o.target_vocab) || (f->shortlist[0] && !o.shortlist)
            ? dg_error_set(err, DG_ENOMEM, "no memory for paths")
        : o.to.source_lang
            ? dg_convert_marian(&o, err)
            : dg_error_field(err, DG_EINVAL, "source_lang",
                  "--source-lang and --target-lang are missing: the name %s has no languages, as "
                  "model.ende.* has",
                  f->model);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        free(paths[i]);
    return rc;
}

int dg_convert_bergamot(const char *dir, const struct dg_convert_marian *o, struct dg_error *err)
{
    struct folder f = {.dir = dir};
    int rc = find_files(&f, err);
    return rc ? rc : convert(&f, o, err);
}
