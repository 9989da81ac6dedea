#include "convert/pull/contents.h"

#include "base/file.h"
#include "convert/bergamot/bergamot.h"
#include "convert/ctranslate2/argos.h"
#include "convert/huggingface/huggingface.h"
#include "convert/input.h"
#include "convert/int8.h"
#include "convert/marian/marian.h"
#include "convert/pull/tree.h"
#include "weights/bundle.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { DEPTH = 3 };

static bool is_folder(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Find the first file by name that matches the pattern, preferably one with `better` in its name.
 */
static bool find_file(const char *dir, const char *pattern, const char *better, char out[256])
{
    DIR *d = opendir(dir);
    out[0] = '\0';
    for (const struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.' || strlen(e->d_name) > 255 || fnmatch(pattern, e->d_name, 0) != 0)
            continue;
        const bool good = better && strstr(e->d_name, better);
        const bool had = better && strstr(out, better);
        if (!out[0] || (good && !had) || (good == had && strcmp(e->d_name, out) < 0))
            snprintf(out, 256, "%s", e->d_name);
    }
    if (d)
        closedir(d);
    return out[0] != '\0';
}

static bool recognise(const char *dir, enum dg_contents_kind *kind)
{
    char name[256];
    if (dg_input_has(dir, "manifest.json"))
        *kind = DG_CONTENTS_BUNDLE;
    else if (dg_input_has(dir, "metadata.json") && dg_input_has(dir, "model/model.bin"))
        *kind = DG_CONTENTS_ARGOS;
    else if (dg_input_has(dir, "model.bin") &&
             (find_file(dir, "shared_vocabulary.*", NULL, name) ||
                 find_file(dir, "source_vocabulary.*", NULL, name)))
        *kind = DG_CONTENTS_CTRANSLATE2;
    else if (dg_input_has(dir, "config.json") &&
             (find_file(dir, "model*.safetensors", NULL, name) ||
                 find_file(dir, "pytorch_model*.bin", NULL, name)))
        *kind = DG_CONTENTS_HUGGINGFACE;
    else if (find_file(dir, "*.npz", NULL, name))
        *kind = DG_CONTENTS_MARIAN;
    else if (find_file(dir, "*.bin", NULL, name) && find_file(dir, "*.spm", NULL, name))
        *kind = DG_CONTENTS_BERGAMOT;
    else
        return false;
    return true;
}

static bool find_below(const char *dir, int depth, struct dg_contents *out)
{
    if (strlen(dir) < sizeof out->dir && recognise(dir, &out->kind)) {
        snprintf(out->dir, sizeof out->dir, "%.4095s", dir);
        return true;
    }
    DIR *d = depth > 0 ? opendir(dir) : NULL;
    bool found = false;
    for (const struct dirent *e; d && !found && (e = readdir(d));) {
        char below[4096 + 256];
        if (e->d_name[0] == '.')
            continue;
        snprintf(below, sizeof below, "%.4095s/%.255s", dir, e->d_name);
        found = is_folder(below) && find_below(below, depth - 1, out);
    }
    if (d)
        closedir(d);
    return found;
}

int dg_contents_find(const char *dir, struct dg_contents *out, struct dg_error *err)
{
    if (find_below(dir, DEPTH, out))
        return 0;
    return dg_error_set(err, DG_EUNSUP,
        "there is no model that can be converted: expected a bundle, an Argos package, a "
        "CTranslate2, Hugging Face or Marian model, or a Bergamot student");
}

/* A bundle keeps its languages and, without int8, its type: other options would be recorded, but
 * not true. */
static int check_options(
    const struct dg_bundle *b, const struct dg_convert_to *o, struct dg_error *err)
{
    static const struct {
        enum dg_type type;
        const char *name;
    } types[] = {{DG_F32, "float32"}, {DG_F16, "float16"}, {DG_BF16, "bfloat16"}};
    const char *const given[2] = {o->source_lang, o->target_lang};
    const char *pair[2];
    for (size_t i = 0; i < 2 * dg_bundle_pairs(b); i++) {
        dg_bundle_pair(b, i / 2, &pair[0], &pair[1]);
        if (given[i % 2] && strcasecmp(given[i % 2], pair[i % 2]) != 0)
            return dg_error_field(err, DG_EINVAL, i % 2 ? "target_lang" : "source_lang",
                "the %s language is \"%.60s\", but the bundle translates %s-%s, and a bundle keeps "
                "its languages",
                i % 2 ? "target" : "source", given[i % 2], pair[0], pair[1]);
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (o->type == types[i].type && strcmp(dg_bundle_type(b), types[i].name) != 0)
            return dg_error_field(err, DG_EINVAL, "type",
                "the type is %s, but the bundle's weights are %s, and a bundle is converted to int8 "
                "only",
                types[i].name, dg_bundle_type(b));
    return 0;
}

/* Copy the files that `to` does not have. */
static int copy_files(const char *from_dir, const char *to_dir, struct dg_error *err)
{
    int rc = dg_file_make_dir(to_dir, err);
    DIR *d = rc ? NULL : opendir(from_dir);
    for (const struct dirent *e; d && !rc && (e = readdir(d));) {
        char *from = dg_file_join(from_dir, e->d_name), *to = dg_file_join(to_dir, e->d_name);
        if (!from || !to)
            rc = dg_error_set(err, DG_ENOMEM, "no memory for a path");
        else if (e->d_name[0] != '.' && !is_folder(from) && !dg_input_has(to_dir, e->d_name))
            rc = dg_file_copy(from, to, err);
        free(from);
        free(to);
    }
    if (d)
        closedir(d);
    return rc;
}

static int take_bundle(
    const struct dg_contents *c, const struct dg_convert_to *o, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    int rc = dg_bundle_open(c->dir, &b, err);
    if (!rc)
        rc = dg_bundle_verify(b, err);
    if (!rc)
        rc = check_options(b, o, err);
    const bool quantise = !rc && o->type == DG_S8 && strcmp(dg_bundle_type(b), "int8") != 0;
    dg_bundle_close(b);
    if (quantise)
        rc = dg_convert_int8(c->dir, o->out, err);
    return rc ? rc : copy_files(c->dir, o->out, err); /* such as its model card */
}

/* Converts the layouts of OPUS-MT's and HPLT's original models: vocabularies in YAML beside
 * SentencePiece models, or SentencePiece models alone. */
static int convert_marian(const struct dg_contents *c, const struct dg_convert_to *o,
    struct dg_convert_marian *m, struct dg_error *err)
{
    static const char *const patterns[4][3] = {{"*src.vocab.yml", "*.vocab.yml", "*src*.spm"},
        {"*trg.vocab.yml", "", "*trg*.spm"}, {"source.spm", "*.spm", ""}, {"target.spm", "", ""}};
    char name[256], *paths[5] = {NULL};
    int rc = 0;
    if (!o->source_lang || !o->target_lang)
        return dg_error_field(err, DG_EINVAL, "source_lang",
            "--source-lang and --target-lang are missing: a Marian model does not record "
            "its languages");
    find_file(c->dir, "*.npz", "best", name);
    paths[4] = dg_file_join(c->dir, name);
    for (int i = 0; i < 4; i++) {
        bool found = false;
        for (int k = 0; k < 3 && !found; k++)
            found = patterns[i][k][0] && find_file(c->dir, patterns[i][k], NULL, name);
        paths[i] = found ? dg_file_join(c->dir, name) : NULL;
    }
    m->model = paths[4];
    m->source_vocab = paths[0] ? paths[0] : paths[2];
    m->target_vocab = paths[1];
    m->source_spm = paths[0] ? paths[2] : NULL;
    m->target_spm = paths[0] ? (paths[3] ? paths[3] : paths[2]) : NULL;
    rc = !m->model         ? dg_error_set(err, DG_ENOMEM, "no memory for a path")
         : m->source_vocab ? dg_convert_marian(m, err)
                           : dg_error_set(err, DG_EFORMAT,
                                 "there is no vocabulary (.yml or .spm) beside the .npz file");
    for (int i = 0; i < 5; i++)
        free(paths[i]);
    return rc;
}

static int convert_ctranslate2(
    const struct dg_contents *c, struct dg_convert_ctranslate2 *ct2, struct dg_error *err)
{
    static const char *const names[] = {
        "source.spm", "sentencepiece.model", "sentencepiece.bpe.model"};
    char *source = NULL,
         *target = dg_input_has(c->dir, "target.spm") ? dg_file_join(c->dir, "target.spm") : NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !source; i++)
        source = dg_input_has(c->dir, names[i]) ? dg_file_join(c->dir, names[i]) : NULL;
    ct2->dir = c->dir;
    ct2->source_spm = source;
    ct2->target_spm = target;
    int rc = dg_convert_ctranslate2(ct2, err);
    free(source);
    free(target);
    return rc;
}

static int convert_to(const struct dg_contents *c, const struct dg_convert_to *o, const char *out,
    struct dg_error *err)
{
    struct dg_convert_to to = *o;
    to.out = out;
    to.keep_int8 = o->type == DG_S8;
    to.type = to.keep_int8 ? DG_F32 : o->type;
    struct dg_convert_marian m = {.to = to, .positions = DG_POS_MARIAN};
    struct dg_convert_ctranslate2 ct2 = {.to = to};
    const struct dg_convert_huggingface hf = {.dir = c->dir, .to = to};
    switch (c->kind) {
    case DG_CONTENTS_BUNDLE: return take_bundle(c, o, err);
    case DG_CONTENTS_ARGOS: return dg_convert_argos(c->dir, &ct2, err);
    case DG_CONTENTS_CTRANSLATE2: return convert_ctranslate2(c, &ct2, err);
    case DG_CONTENTS_HUGGINGFACE: return dg_convert_huggingface(&hf, err);
    case DG_CONTENTS_MARIAN: return convert_marian(c, o, &m, err);
    case DG_CONTENTS_BERGAMOT: return dg_convert_bergamot(c->dir, &m, err);
    }
    return dg_error_set(err, DG_EINTERNAL, "no such kind of model");
}

int dg_contents_convert(
    const struct dg_contents *c, const struct dg_convert_to *o, struct dg_error *err)
{
    if (o->type != DG_S8 || c->kind == DG_CONTENTS_BUNDLE || c->kind == DG_CONTENTS_BERGAMOT)
        return convert_to(c, o, o->out, err);
    /* Within the output, so that it goes with it if this process is killed. */
    char *between = dg_file_join(o->out, ".before");
    int rc = between ? convert_to(c, o, between, err)
                     : dg_error_set(err, DG_ENOMEM, "no memory for a path");
    if (!rc)
        rc = dg_convert_int8(between, o->out, err);
    if (!rc)
        rc = dg_tree_remove(between, err);
    free(between);
    return rc;
}
