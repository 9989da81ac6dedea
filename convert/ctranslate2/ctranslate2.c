#include "convert/ctranslate2/ctranslate2.h"

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "convert/ctranslate2/settings.h"
#include "convert/ctranslate2/tensors.h"
#include "convert/output.h"
#include "convert/tags.h"
#include "convert/vocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRONG(field, ...) dg_error_field(err, DG_EFORMAT, field, __VA_ARGS__)

struct job {
    const struct dg_convert_ctranslate2 *o;
    struct dg_ct2 *model;
    /* See convert/ctranslate2/settings.h. */
    struct dg_json *settings;
    struct dg_config config;
    struct dg_convert_vocab source, target;
    struct dg_json *manifest;
};

static int open_model(struct job *j, struct dg_error *err)
{
    char *path = dg_file_join(j->o->dir, "model.bin");
    int rc = path ? dg_ct2_open(dg_input_path(path), &j->model, err)
                  : dg_error_set(err, DG_ENOMEM, "no memory for a path");
    free(path);
    return rc ? rc : dg_ct2_settings_read(j->o->dir, j->model, &j->settings, err);
}

/* Read one piece per line, or a JSON array of pieces. */
static int read_pieces(
    const char *path, bool json, struct dg_convert_vocab *v, struct dg_error *err)
{
    struct dg_buffer text;
    struct dg_json *list = json ? dg_json_load(path, err) : NULL;
    uint32_t n = 0;
    int rc = 0;
    dg_buffer_init(&text);
    if (json && !list)
        return err && err->code ? err->code : DG_EFORMAT;
    if (json) {
        for (size_t i = 0; i < dg_json_length(list) && n < v->size; i++) {
            const char *piece = dg_json_string(dg_json_at(list, i), NULL);
            v->pieces[n++] = piece ? dg_arena_strdup(&v->arena, piece) : NULL;
        }
    } else if (!(rc = dg_file_read(path, &text, err))) {
        for (const char *p = text.data; p && *p && n < v->size;) {
            const size_t k = strcspn(p, "\n");
            v->pieces[n++] = dg_arena_strndup(&v->arena, p, k);
            p += p[k] ? k + 1 : k;
        }
    }
    if (!rc && n + 1 == v->size) /* CTranslate2 appends <unk> to a vocabulary without it */
        v->pieces[n] = dg_arena_strdup(&v->arena, "<unk>");
    dg_json_free(list);
    dg_buffer_deinit(&text);
    return rc ? rc : dg_convert_vocab_check(v, path, err);
}

static int load_vocab(
    struct job *j, const char *own, uint32_t size, struct dg_convert_vocab *v, struct dg_error *err)
{
    const char *const stems[] = {"shared_vocabulary", own};
    const char *const endings[] = {".json", ".txt"};
    for (size_t i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", stems[i / 2], endings[i % 2]);
        if (!dg_input_has(j->o->dir, name))
            continue;
        char *path = dg_file_join(j->o->dir, name);
        int rc = path ? dg_convert_vocab_init(v, size, err)
                      : dg_error_set(err, DG_ENOMEM, "no memory for a path");
        if (!rc)
            rc = read_pieces(path, i % 2 == 0, v, err);
        free(path);
        return rc;
    }
    return dg_error_field(err, DG_ENOTFOUND, "vocab",
        "%s has neither shared_vocabulary nor %s (.json or .txt)", j->o->dir, own);
}

static int read_flag(const struct job *j, const char *key, bool *out, struct dg_error *err)
{
    const struct dg_json *v = dg_json_get(j->settings, key);
    if (dg_json_typeof(v) != DG_JSON_BOOL)
        return WRONG(key, "config.json: %s is missing, or neither true nor false", key);
    *out = dg_json_bool(v);
    return 0;
}

/* Get the id of the piece that the setting names. */
static int read_id(const struct job *j, const char *key, int32_t *out, struct dg_error *err)
{
    const char *piece = dg_json_string(dg_json_get(j->settings, key), NULL);
    if (!piece)
        return WRONG(key, "config.json: %s is missing, or no text", key);
    *out = dg_convert_vocab_id(&j->target, piece);
    return *out >= 0 ? 0
                     : WRONG(key, "%s is \"%.60s\", no piece of the target vocabulary", key, piece);
}

static int read_start(struct job *j, bool zero_start, struct dg_error *err)
{
    j->config.start = -1;
    if (zero_start)
        return 0;
    if (dg_json_typeof(dg_json_get(j->settings, "decoder_start_token")) == DG_JSON_NULL)
        return dg_error_field(err, DG_EUNSUP, "decoder_start_token",
            "each call chooses the piece that starts the decoder (decoder_start_token is null, "
            "before version 6 user_decoder_start_tokens), which is not supported");
    return read_id(j, "decoder_start_token", &j->config.start, err);
}

static int read_ids(struct job *j, bool zero_start, struct dg_error *err)
{
    struct dg_config *c = &j->config;
    bool source_bos = false;
    int rc = read_id(j, "eos_token", &c->eos, err);
    if (!rc)
        rc = read_id(j, "unk_token", &c->unk, err);
    if (!rc)
        rc = read_start(j, zero_start, err);
    if (!rc)
        rc = read_flag(j, "add_source_bos", &source_bos, err);
    if (!rc)
        rc = read_flag(j, "add_source_eos", &c->source_eos, err);
    if (!rc && source_bos)
        rc = dg_error_field(err, DG_EUNSUP, "add_source_bos",
            "the source begins with a piece of its own (add_source_bos is true, before version 6 "
            "with_source_bos), which is not supported");
    /* Only Marian's decoders start from zeros, and its sources end with </s>. transformers'
     * converter leaves the flag false, since transformers' tokenizer returns the piece. */
    c->source_eos = c->source_eos || zero_start;
    if (rc || !c->source_eos)
        return rc;
    const char *eos = dg_json_string(dg_json_get(j->settings, "eos_token"), NULL);
    return dg_convert_vocab_id(&j->source, eos) == c->eos
               ? 0
               : WRONG("eos_token", "%.60s has another id in the source vocabulary", eos);
}

static int read_config(struct job *j, struct dg_error *err)
{
    struct dg_config *c = &j->config;
    bool zero_start = false;
    double eps = 1e-5;
    dg_config_base(c, 2); /* the paper's decoding options */
    int rc = dg_ct2_config_read(j->model, c, &zero_start, err);
    if (!rc)
        rc = load_vocab(j, "source_vocabulary", c->source_vocab, &j->source, err);
    if (!rc)
        rc = load_vocab(j, "target_vocabulary", c->target_vocab, &j->target, err);
    if (!rc)
        rc = read_ids(j, zero_start, err);
    if (!rc && dg_json_typeof(dg_json_get(j->settings, "layer_norm_epsilon")) != DG_JSON_NULL)
        rc = dg_json_field_number(
            j->settings, "config.json", "layer_norm_epsilon", 1e-12, 0.1, &eps, err);
    c->norm_eps = (float)eps;
    return rc ? rc : dg_config_check(c, err);
}

/* Write the piece that starts answers in the target language, as NLLB's language pieces do. */
static int write_prefix(struct job *j, struct dg_error *err)
{
    const struct dg_convert_ctranslate2 *o = j->o;
    if (dg_convert_vocab_id(&j->target, o->target_prefix) < 0)
        return WRONG("target_prefix",
            "the target_prefix is \"%.60s\", no piece of the target vocabulary", o->target_prefix);
    struct dg_json *tags = dg_json_new_object();
    if (dg_json_set_string(tags, o->to.target_lang, o->target_prefix)) {
        dg_json_free(tags);
        return dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
    }
    return dg_json_set_take(j->manifest, "target_tags", tags)
               ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest")
               : 0;
}

/* True for __de__ (M2M-100, SMaLL-100) and deu_Latn (NLLB). */
static bool is_language(const char *piece)
{
    static const char scripts[] = "Latn Cyrl Arab Deva Beng Grek Hans Hant Jpan Hang ";
    const bool framed = strncmp(piece, "__", 2) == 0;
    const char *code = framed ? piece + 2 : piece;
    const size_t letters = strspn(code, "abcdefghijklmnopqrstuvwxyz");
    char script[8];
    if (framed)
        return (letters == 2 || letters == 3) && strcmp(code + letters, "__") == 0;
    if (letters != 3 || strlen(code) != 8 || code[3] != '_')
        return false;
    snprintf(script, sizeof script, "%s ", code + 4);
    return strstr(scripts, script) != NULL;
}

/* Find the piece of a language in a model for many. NULL: the vocabulary has none, or one that only
 * looks so. */
static const char *find_language(const struct dg_convert_vocab *v)
{
    size_t n = 0;
    for (uint32_t i = 0; i < v->size; i++) {
        n += is_language(v->pieces[i]);
        if (n == 2)
            return v->pieces[i];
    }
    return NULL;
}

/* Write what the model translates, and what tells it so; without that, a model for several
 * languages would answer in any of them. */
static int write_languages(struct job *j, struct dg_error *err)
{
    const struct dg_convert_ctranslate2 *o = j->o;
    const char *piece = find_language(&j->target);
    if (o->target_prefix && o->target_prefix[0]) {
        int rc = dg_convert_output_pair(j->manifest, o->to.source_lang, o->to.target_lang, err);
        return rc ? rc : write_prefix(j, err);
    }
    if (piece)
        return dg_error_field(err, DG_EUNSUP, "vocab",
            "the vocabulary has pieces of languages, such as %.60s: convert a model for many "
            "languages from its Hugging Face files (M2M-100, NLLB), not from CTranslate2's",
            piece);
    return dg_convert_tags_write(
        &j->source, o->to.source_lang, o->to.target_lang, j->manifest, err);
}

static int add_tensors(void *job, struct dg_weights_writer *w, struct dg_error *err)
{
    const struct job *j = job;
    return dg_ct2_tensors_add(j->model, &j->config, &j->o->to, w, err);
}

static int write_bundle(struct job *j, struct dg_error *err)
{
    const struct dg_convert_ctranslate2 *o = j->o;
    const struct dg_convert_bundle b = {.out = o->to.out,
        .manifest = j->manifest,
        .sides = {o->source_spm, o->target_spm ? o->target_spm : o->source_spm, &j->source,
            &j->target},
        .job = j,
        .add_tensors = add_tensors};
    return dg_convert_output_write(&b, err);
}

int dg_convert_ctranslate2(const struct dg_convert_ctranslate2 *o, struct dg_error *err)
{
    struct job j = {.o = o};
    if (!o->to.source_lang || !o->to.target_lang)
        return dg_error_field(err, DG_EINVAL, o->to.source_lang ? "target_lang" : "source_lang",
            "--source-lang and --target-lang are missing: a CTranslate2 directory does not "
            "record them");
    int rc = open_model(&j, err);
    if (!rc)
        rc = read_config(&j, err);
    if (!rc)
        rc = dg_convert_output_manifest(&o->to, "ctranslate2", &j.config, &j.manifest, err);
    if (!rc)
        rc = write_languages(&j, err);
    if (!rc)
        rc = write_bundle(&j, err);
    dg_json_free(j.manifest);
    dg_json_free(j.settings);
    dg_convert_vocab_deinit(&j.source);
    dg_convert_vocab_deinit(&j.target);
    dg_ct2_close(j.model);
    return rc;
}
