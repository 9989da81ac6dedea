#include "convert/marian/marian.h"

#include "base/file.h"
#include "convert/marian/lexicon.h"
#include "convert/marian/options.h"
#include "convert/marian/tensors.h"
#include "convert/marian/arrays.h"
#include "convert/output.h"
#include "convert/tags.h"
#include "convert/vocab.h"
#include "weights/shortlist.h"

#include <stdlib.h>
#include <string.h>

#define OPTIONS_ARRAY "special:model.yml"
#define MAX_OPTIONS_BYTES ((size_t)1 << 24)

struct job {
    const struct dg_convert_marian *o;
    struct dg_marian_arrays *arrays;
    struct dg_config config;
    struct dg_marian_options options;
    struct dg_convert_vocab source, target;
    /* NULL: none */
    const char *source_spm, *target_spm;
    struct dg_json *manifest;
};

/* The options are in the model as an array of bytes that ends with a NUL. */
static int read_options(struct job *j, struct dg_error *err)
{
    const struct dg_marian_array *array = dg_marian_arrays_find(j->arrays, OPTIONS_ARRAY);
    struct dg_yaml *yml = NULL;
    if (!array || array->type != DG_MARIAN_BYTE || array->count > MAX_OPTIONS_BYTES)
        return dg_error_field(err, DG_EFORMAT, OPTIONS_ARRAY,
            "%s has no %s array of bytes: no Marian model", j->o->model, OPTIONS_ARRAY);
    char *text = malloc(array->count + 1);
    if (!text)
        return dg_error_set(err, DG_ENOMEM, "no memory for %s", OPTIONS_ARRAY);
    int rc = dg_marian_arrays_read(j->arrays, array, text, err);
    text[array->count] = '\0';
    if (!rc)
        rc = dg_yaml_parse(text, strlen(text), OPTIONS_ARRAY, &yml, err);
    if (!rc)
        rc = dg_marian_options_read(yml, j->o->positions, &j->config, &j->options, err);
    dg_yaml_free(yml);
    free(text);
    return rc;
}

/* Ids of </s> and <unk>; Marian has both in every vocabulary, </s> with one id on both sides. */
static int read_ids(struct job *j, struct dg_error *err)
{
    struct dg_config *c = &j->config;
    c->eos = dg_convert_vocab_id(&j->target, "</s>");
    c->unk = dg_convert_vocab_id(&j->target, "<unk>");
    if (c->eos < 0 || dg_convert_vocab_id(&j->source, "</s>") != c->eos)
        return dg_error_field(err, DG_EFORMAT, "vocab",
            "</s> has id %d in the source vocabulary and %d in the target's, expected the same one",
            dg_convert_vocab_id(&j->source, "</s>"), c->eos);
    c->never = c->unk; /* Marian's search never picks it, though it has its share of the softmax */
    c->start = -1;     /* Marian's decoder begins with a vector of zeros */
    c->source_eos = true;
    return 0;
}

/* The side's SentencePiece model: the one given, or the vocabulary itself. */
static const char *choose_spm(const char *spm, const char *vocab)
{
    if (spm)
        return spm;
    return dg_marian_vocab_is_spm(vocab) ? vocab : NULL;
}

static int read_vocabs(struct job *j, struct dg_error *err)
{
    const struct dg_convert_marian *o = j->o;
    const char *target = o->target_vocab ? o->target_vocab : o->source_vocab;
    int rc = dg_convert_vocab_load_marian(o->source_vocab, j->config.source_vocab, &j->source, err);
    if (!rc)
        rc = dg_convert_vocab_load_marian(target, j->config.target_vocab, &j->target, err);
    if (rc)
        return rc;
    j->source_spm = choose_spm(o->source_spm, o->source_vocab);
    j->target_spm = choose_spm(o->target_spm, target);
    if (!j->source_spm != !j->target_spm)
        return dg_error_field(err, DG_EINVAL, "spm", "only the %s side has a SentencePiece model",
            j->source_spm ? "source" : "target");
    return read_ids(j, err);
}

/* The array's size gives the number of learned positions. */
static int read_positions(struct job *j, struct dg_error *err)
{
    if (j->config.positions != DG_POS_LEARNED)
        return 0;
    const struct dg_marian_array *array = dg_marian_arrays_find(j->arrays, DG_MARIAN_POSITIONS);
    if (!array || array->n_dims != 2 || array->shape[0] > UINT32_MAX)
        return dg_error_field(err, DG_EFORMAT, DG_MARIAN_POSITIONS,
            "array %s is missing or no matrix, which trained positions need", DG_MARIAN_POSITIONS);
    j->config.max_positions = (uint32_t)array->shape[0];
    return 0;
}

/* The settings for which Marian's students were distilled, and with which their decoders are run.
 */
static void set_student_defaults(struct job *j)
{
    struct dg_config *c = &j->config;
    c->beam = 1;
    c->alpha = 0;
    c->length_factor = 2;
    c->extra_length = 512; /* only the factor limits */
    c->max_source = 128;   /* including </s>: the length of their longest training sentences */
    if (!j->options.alignment_layer)
        j->options.alignment_layer = c->dec_layers;
}

static int read_config(struct job *j, struct dg_error *err)
{
    struct dg_config *c = &j->config;
    dg_config_base(c, 2); /* the paper's decoding options */
    int rc = read_options(j, err);
    if (rc)
        return rc;
    c->norm_eps = j->o->norm_eps > 0                 ? (float)j->o->norm_eps
                  : j->o->positions == DG_POS_MARIAN ? 1e-6f
                                                     : 1e-5f;
    if (c->decoder == DG_DECODER_SSRU)
        set_student_defaults(j);
    rc = read_vocabs(j, err);
    if (!rc)
        rc = read_positions(j, err);
    return rc ? rc : dg_config_check(c, err);
}

static int add_tensors(void *job, struct dg_weights_writer *w, struct dg_error *err)
{
    const struct job *j = job;
    return dg_marian_tensors_add(j->arrays, &j->config, &j->options, j->o, w, err);
}

/* Import the lexicon's lists. The vocabularies are shared if they are one file, not if their pieces
 * are equal. */
static int add_shortlist(void *job, struct dg_error *err)
{
    const struct job *j = job;
    const struct dg_convert_marian *o = j->o;
    const bool shared = !o->target_vocab || strcmp(o->source_vocab, o->target_vocab) == 0;
    if (!o->shortlist)
        return 0;
    char *path = dg_file_join(o->to.out, DG_SHORTLIST_FILE);
    int rc = path ? dg_marian_lexicon_import(o->shortlist, j->config.source_vocab,
                        j->config.target_vocab, shared, path, err)
                  : dg_error_set(err, DG_ENOMEM, "no memory for a path");
    free(path);
    if (!rc &&
        dg_json_set_string(dg_json_get(j->manifest, "files"), "shortlist", DG_SHORTLIST_FILE))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
    return rc;
}

static int start_manifest(struct job *j, struct dg_error *err)
{
    const struct dg_convert_to *to = &j->o->to;
    int rc = dg_convert_output_manifest(to, "marian", &j->config, &j->manifest, err);
    if (!rc)
        rc = dg_convert_tags_write(&j->source, to->source_lang, to->target_lang, j->manifest, err);
    if (rc)
        return rc;
    if (j->options.alignment_layer) { /* Marian trains and uses only the layer's first head */
        rc |= dg_json_set_int(j->manifest, "alignment_layer", j->options.alignment_layer);
        rc |= dg_json_set_int(j->manifest, "alignment_head", 1);
    }
    rc |= dg_json_set_string(
        dg_json_get(j->manifest, "training"), "marian_version", j->options.version);
    return rc ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest, or its text is not UTF-8")
              : 0;
}

static int write_bundle(struct job *j, struct dg_error *err)
{
    const struct dg_convert_bundle b = {.out = j->o->to.out,
        .manifest = j->manifest,
        .sides = {j->source_spm, j->target_spm, &j->source, &j->target},
        .job = j,
        .add_tensors = add_tensors,
        .add_files = add_shortlist};
    return dg_convert_output_write(&b, err);
}

static int check_arguments(const struct dg_convert_marian *o, struct dg_error *err)
{
    const struct {
        const char *field, *value;
    } needed[] = {{"model", o->model}, {"vocab", o->source_vocab},
        {"source_lang", o->to.source_lang}, {"target_lang", o->to.target_lang}, {"out", o->to.out}};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!needed[i].value || !needed[i].value[0])
            return dg_error_field(
                err, DG_EINVAL, needed[i].field, "%s is missing", needed[i].field);
    }
    if (o->positions != DG_POS_MARIAN && o->positions != DG_POS_HALVES)
        return dg_error_field(err, DG_EINVAL, "positions", "positions must be marian or halves");
    if (o->to.type != DG_F32 && o->to.type != DG_F16 && o->to.type != DG_BF16)
        return dg_error_field(err, DG_EINVAL, "type", "type must be f32, f16 or bf16");
    return 0;
}

int dg_convert_marian(const struct dg_convert_marian *o, struct dg_error *err)
{
    struct job j = {.o = o};
    int rc = check_arguments(o, err);
    if (!rc)
        rc = dg_marian_arrays_open(o->model, &j.arrays, err);
    if (!rc)
        rc = read_config(&j, err);
    if (!rc)
        rc = start_manifest(&j, err);
    if (!rc)
        rc = write_bundle(&j, err);
    dg_json_free(j.manifest);
    dg_convert_vocab_deinit(&j.source);
    dg_convert_vocab_deinit(&j.target);
    dg_marian_arrays_close(j.arrays);
    return rc;
}
