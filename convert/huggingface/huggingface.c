#include "convert/huggingface/huggingface.h"

#include "base/file.h"
#include "convert/huggingface/config.h"
#include "convert/huggingface/multilingual.h"
#include "convert/huggingface/tensor_set.h"
#include "convert/huggingface/tensors.h"
#include "convert/huggingface/vocab.h"
#include "convert/output.h"

#include <stdlib.h>
#include <string.h>

struct job {
    const struct dg_convert_huggingface *o;
    struct dg_hf_files files;
    struct dg_tensor_set *tensors;
    struct dg_hf_options options;
    struct dg_hf_tables tables;
    struct dg_config config;
    struct dg_convert_vocab source, target;
    /* paths; NULL: none */
    char *source_spm, *target_spm;
    struct dg_json *manifest;
};

static int read_files(struct job *j, struct dg_error *err)
{
    const char *dir = j->o->dir;
    int rc = dg_input_json(dir, "config.json", true, &j->files.config, err);
    if (!rc)
        rc = dg_input_json(dir, "generation_config.json", false, &j->files.generation, err);
    if (!rc)
        rc = dg_input_json(dir, "tokenizer_config.json", false, &j->files.tokenizer, err);
    return rc ? rc : dg_hf_config_read(&j->files, &j->config, &j->options, err);
}

static int open_tensors(struct job *j, struct dg_error *err)
{
    int rc = dg_tensor_set_open(j->o->dir, &j->tensors, err);
    return rc ? rc : dg_hf_tables_find(j->tensors, &j->options, &j->tables, &j->config, err);
}

static int load_vocab(struct job *j, const char *name, uint32_t size, struct dg_convert_vocab *v,
    struct dg_error *err)
{
    char *path = dg_file_join(j->o->dir, name);
    int rc = path ? dg_hf_vocab_load(path, size, v, err)
                  : dg_error_set(err, DG_ENOMEM, "no memory for a path");
    free(path);
    return rc;
}

/* Find the SentencePiece models of the two sides: both exist or neither. */
static int find_spms(struct job *j, struct dg_error *err)
{
    bool source = dg_input_has(j->o->dir, "source.spm"),
         target = dg_input_has(j->o->dir, "target.spm");
    if (source != target)
        return dg_error_field(err, DG_EFORMAT, source ? "target.spm" : "source.spm", "%s has no %s",
            j->o->dir, source ? "target.spm" : "source.spm");
    if (!source)
        return 0; /* the bundle takes pieces only */
    j->source_spm = dg_file_join(j->o->dir, "source.spm");
    j->target_spm = dg_file_join(j->o->dir, "target.spm");
    return j->source_spm && j->target_spm ? 0
                                          : dg_error_set(err, DG_ENOMEM, "no memory for a path");
}

/* Read the one SentencePiece model of both sides, and the vocabularies. */
static int read_multilingual(struct job *j, struct dg_error *err)
{
    static const char *const names[] = {"sentencepiece.bpe.model", "spm.model", "source.spm"};
    const struct dg_config *c = &j->config;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !j->source_spm; i++)
        if (dg_input_has(j->o->dir, names[i]))
            j->source_spm = dg_file_join(j->o->dir, names[i]);
    j->target_spm = j->source_spm ? strdup(j->source_spm) : NULL;
    if (!j->target_spm)
        return dg_error_field(err, DG_EFORMAT, names[0], "%s has no %s", j->o->dir, names[0]);
    int rc = dg_hf_multilingual_vocab(
        &j->options, j->o->dir, j->source_spm, c->source_vocab, &j->source, err);
    if (!rc)
        rc = dg_hf_multilingual_vocab(
            &j->options, j->o->dir, j->source_spm, c->target_vocab, &j->target, err);
    return rc;
}

/* Check that the pieces that the tokenizer names have the ids that the model uses. */
static int check_pieces(struct job *j, struct dg_error *err)
{
    const struct dg_hf_options *o = &j->options;
    const struct dg_convert_vocab *sides[2] = {&j->source, &j->target};
    for (int i = 0; i < 2; i++) {
        int32_t id = dg_convert_vocab_id(sides[i], o->eos_piece);
        if (id != j->config.eos)
            return dg_error_field(err, DG_EFORMAT, "eos_token_id",
                "%s has id %d in the %s vocabulary, config.json's eos_token_id is %d", o->eos_piece,
                id, i ? "target" : "source", j->config.eos);
    }
    j->config.unk = dg_convert_vocab_id(&j->target, o->unk_piece);
    return 0;
}

static int read_vocabs(struct job *j, struct dg_error *err)
{
    const struct dg_config *c = &j->config;
    const char *target = j->options.separate_vocabs ? "target_vocab.json" : "vocab.json";
    const bool marian = j->options.kind == DG_HF_MARIAN;
    int rc = marian ? load_vocab(j, "vocab.json", c->source_vocab, &j->source, err)
                    : read_multilingual(j, err);
    if (!rc && marian)
        rc = load_vocab(j, target, c->target_vocab, &j->target, err);
    if (!rc && marian)
        rc = find_spms(j, err);
    return rc ? rc : check_pieces(j, err);
}

/* The last component of the directory's real path. */
static int default_name(const char *dir, char **out, struct dg_error *err)
{
    char *real = realpath(dir, NULL);
    const char *slash = real ? strrchr(real, '/') : NULL;
    *out = slash && slash[1] ? strdup(slash + 1) : strdup("marian");
    free(real);
    return *out ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for a name");
}

static int write_origin(struct job *j, struct dg_error *err)
{
    struct dg_json *training = dg_json_get(j->manifest, "training");
    int rc = 0;
    if (j->options.origin && j->options.origin[0])
        rc |= dg_json_set_string(training, "name_or_path", j->options.origin);
    if (j->options.version)
        rc |= dg_json_set_string(training, "transformers_version", j->options.version);
    return rc ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest") : 0;
}

static int start_manifest(struct job *j, struct dg_error *err)
{
    struct dg_convert_to to = j->o->to;
    char *name = NULL;
    int rc = to.name ? 0 : default_name(j->o->dir, &name, err);
    to.name = name ? name : to.name;
    if (!rc)
        rc = dg_convert_output_manifest(&to, "huggingface", &j->config, &j->manifest, err);
    if (!rc)
        rc = dg_hf_languages_write(
            &j->source, &j->options, to.source_lang, to.target_lang, j->manifest, err);
    free(name);
    return rc ? rc : write_origin(j, err);
}

static int add_tensors(void *job, struct dg_weights_writer *w, struct dg_error *err)
{
    const struct job *j = job;
    return dg_hf_tensors_add(
        j->tensors, &j->tables, &j->options, &j->config, j->o->to.type, w, err);
}

static int write_bundle(struct job *j, struct dg_error *err)
{
    const struct dg_convert_bundle b = {.out = j->o->to.out,
        .manifest = j->manifest,
        .sides = {j->source_spm, j->target_spm, &j->source, &j->target},
        .job = j,
        .add_tensors = add_tensors};
    return dg_convert_output_write(&b, err);
}

static int check_arguments(const struct dg_convert_huggingface *o, struct dg_error *err)
{
    if (!o->dir || !o->dir[0])
        return dg_error_field(err, DG_EINVAL, "dir", "the model's directory is missing");
    if (!o->to.out || !o->to.out[0])
        return dg_error_field(err, DG_EINVAL, "out", "out is missing");
    if (o->to.type != DG_F32 && o->to.type != DG_F16 && o->to.type != DG_BF16)
        return dg_error_field(err, DG_EINVAL, "type", "type must be f32, f16 or bf16");
    return 0;
}

int dg_convert_huggingface(const struct dg_convert_huggingface *o, struct dg_error *err)
{
    struct job j = {.o = o};
    int rc = check_arguments(o, err);
    if (!rc)
        rc = read_files(&j, err);
    if (!rc)
        rc = open_tensors(&j, err);
    if (!rc)
        rc = read_vocabs(&j, err);
    if (!rc)
        rc = dg_config_check(&j.config, err);
    if (!rc)
        rc = start_manifest(&j, err);
    if (!rc)
        rc = write_bundle(&j, err);
    dg_json_free(j.manifest);
    dg_convert_vocab_deinit(&j.source);
    dg_convert_vocab_deinit(&j.target);
    free(j.source_spm);
    free(j.target_spm);
    dg_tensor_set_close(j.tensors);
    dg_json_free(j.files.config);
    dg_json_free(j.files.generation);
    dg_json_free(j.files.tokenizer);
    return rc;
}
