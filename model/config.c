#include "model/config.h"

#include "base/fields.h"
#include "weights/bundle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VOCAB 4194304
#define AT(member) DG_FIELD_AT(struct dg_config, member)
#define WHOLE(member, min, max) DG_FIELD_INT, AT(member), min, max
#define YES_NO(member) DG_FIELD_BOOL, AT(member)

static const char *const position_names[] = {
    [DG_POS_PAPER] = "paper",
    [DG_POS_MARIAN] = "marian",
    [DG_POS_HALVES] = "halves",
    [DG_POS_LEARNED] = "learned",
    NULL,
};

/* Without DG_ACT_NONE: a feed-forward network needs an activation. */
static const char *const activation_names[] = {
    "relu",
    [DG_ACT_SWISH - DG_ACT_RELU] = "swish",
    [DG_ACT_GELU - DG_ACT_RELU] = "gelu",
    NULL,
};

static const char *const decoder_names[] = {
    [DG_DECODER_ATTENTION] = "attention",
    [DG_DECODER_SSRU] = "ssru",
    NULL,
};

/* The zero vector, which is no token: start is -1. */
static const char *const start_names[] = {"zero", NULL};

/* Conventions are never guessed: all fields are required, except those in which most models follow
 * the paper. */
static const struct dg_field model_rows[] = {
    {"source_vocab", WHOLE(source_vocab, 2, MAX_VOCAB), .flags = DG_FIELD_REQUIRED},
    {"target_vocab", WHOLE(target_vocab, 2, MAX_VOCAB), .flags = DG_FIELD_REQUIRED},
    {"d_model", WHOLE(D, 1, DG_MAX_WIDTH), .flags = DG_FIELD_REQUIRED},
    {"d_ff", WHOLE(F, 1, 4 * DG_MAX_WIDTH), .flags = DG_FIELD_REQUIRED},
    {"heads", WHOLE(H, 1, 1024), .flags = DG_FIELD_REQUIRED},
    {"decoder_d_ff", WHOLE(dec_F, 0, 4 * DG_MAX_WIDTH), .fallback = "0",
        .flags = DG_FIELD_UNWRITTEN},
    {"decoder_heads", WHOLE(dec_H, 0, 1024), .fallback = "0", .flags = DG_FIELD_UNWRITTEN},
    {"d_k", WHOLE(Dk, 1, DG_MAX_WIDTH), .flags = DG_FIELD_REQUIRED},
    {"d_v", WHOLE(Dv, 1, DG_MAX_WIDTH), .flags = DG_FIELD_REQUIRED},
    {"encoder_layers", WHOLE(enc_layers, 1, DG_MAX_LAYERS), .flags = DG_FIELD_REQUIRED},
    {"decoder_layers", WHOLE(dec_layers, 1, DG_MAX_LAYERS), .flags = DG_FIELD_REQUIRED},
    {"norm_eps", DG_FIELD_REAL, AT(norm_eps), 1e-12, 0.1, .flags = DG_FIELD_REQUIRED},
    {"embed_scale", DG_FIELD_REAL, AT(embed_scale), 1e-6, 1e6, .flags = DG_FIELD_REQUIRED},
    {"positions", DG_FIELD_WORD, AT(positions), DG_POS_PAPER, DG_POS_LEARNED,
        .words = position_names, .flags = DG_FIELD_REQUIRED},
    {"first_position", WHOLE(first_position, 0, 2), .flags = DG_FIELD_REQUIRED},
    {"max_positions", WHOLE(max_positions, 0, DG_MAX_WIDTH), .help = "learned positions only"},
    {"activation", DG_FIELD_WORD, AT(act), DG_ACT_RELU, DG_ACT_GELU, .words = activation_names,
        .flags = DG_FIELD_REQUIRED},
    {"decoder", DG_FIELD_WORD, AT(decoder), DG_DECODER_ATTENTION, DG_DECODER_SSRU,
        .words = decoder_names, .fallback = "attention", .flags = DG_FIELD_UNWRITTEN},
    {"pre_norm", YES_NO(pre_norm), .fallback = "false", .flags = DG_FIELD_UNWRITTEN},
    {"attention_bias", YES_NO(attention_bias), .flags = DG_FIELD_REQUIRED},
    {"output_bias", YES_NO(output_bias), .flags = DG_FIELD_REQUIRED},
    {"tied_embeddings", YES_NO(tied_embeddings), .flags = DG_FIELD_REQUIRED},
    {"tied_output", YES_NO(tied_output), .flags = DG_FIELD_REQUIRED},
    {"eos", WHOLE(eos, 0, MAX_VOCAB), .flags = DG_FIELD_REQUIRED},
    {"unk", WHOLE(unk, -1, MAX_VOCAB), .flags = DG_FIELD_REQUIRED},
    {"start", WHOLE(start, -1, MAX_VOCAB), .words = start_names, .flags = DG_FIELD_REQUIRED},
    {"source_eos", YES_NO(source_eos), .flags = DG_FIELD_REQUIRED},
};

/* Most models leave out the last four. */
static const struct dg_field decoding_rows[] = {
    {"beam_size", WHOLE(beam, 1, 32), .old = "beam"},
    {"length_penalty", DG_FIELD_REAL, AT(alpha), 0, 10, .old = "alpha"},
    {"extra_length", WHOLE(extra_length, 0, 65536), .help = "tokens beyond the source's"},
    {"length_factor", DG_FIELD_REAL, AT(length_factor), 0, 1000, .fallback = "0",
        .flags = DG_FIELD_UNWRITTEN},
    {"max_source_tokens", WHOLE(max_source, 0, 65536), .fallback = "0",
        .flags = DG_FIELD_UNWRITTEN},
    {"low_confidence", DG_FIELD_REAL, AT(low_confidence), -1000, 0,
        .fallback = DG_LOW_CONFIDENCE_TEXT, .flags = DG_FIELD_UNWRITTEN},
    {"never", WHOLE(never, -1, MAX_VOCAB), .fallback = "-1", .flags = DG_FIELD_UNWRITTEN},
};

static struct dg_fields model_fields(const struct dg_config *c)
{
    return (struct dg_fields){
        model_rows, DG_FIELD_COUNT(model_rows), (void *)(uintptr_t)c, NULL, NULL};
}

static struct dg_fields decoding_fields(const struct dg_config *c)
{
    return (struct dg_fields){
        decoding_rows, DG_FIELD_COUNT(decoding_rows), (void *)(uintptr_t)c, NULL, NULL};
}

void dg_config_base(struct dg_config *c, uint32_t V)
{
    *c = (struct dg_config){
        .source_vocab = V,
        .target_vocab = V,
        .D = 512,
        .F = 2048,
        .H = 8,
        .Dk = 64,
        .Dv = 64,
        .enc_layers = 6,
        .dec_layers = 6,
        .norm_eps = 1e-6f,
        .embed_scale = sqrtf(512),
        .positions = DG_POS_PAPER,
        .act = DG_ACT_RELU,
        .tied_embeddings = true,
        .tied_output = true,
        .eos = 0,
        .unk = 1,
        .start = -1, /* the authors' program shifts zeros in */
        .source_eos = true,
        .beam = 4,
        .alpha = 0.6f,
        .extra_length = 50,
        .low_confidence = DG_LOW_CONFIDENCE,
        .never = -1,
    };
}

#define REFUSE(field, ...) dg_error_field(err, DG_EINVAL, field, __VA_ARGS__)

static int check_choices(const struct dg_config *c, struct dg_error *err)
{
    bool learned = c->positions == DG_POS_LEARNED;
    if (learned != (c->max_positions > 0))
        return REFUSE("model.max_positions",
            "model.max_positions is %u, with %s positions it must be %s", c->max_positions,
            position_names[c->positions], learned ? "above 0" : "0");
    if (learned && c->first_position)
        return REFUSE("model.first_position",
            "model.first_position is %u, with learned positions it must be 0", c->first_position);
    if (!learned && c->D % 2)
        return REFUSE(
            "model.d_model", "model.d_model is %u, sine and cosine need an even number", c->D);
    if (c->positions == DG_POS_MARIAN && c->D < 4)
        return REFUSE(
            "model.d_model", "model.d_model is %u, positions \"marian\" need at least 4", c->D);
    return 0;
}

static int check_dims(const struct dg_config *c, struct dg_error *err)
{
    if ((uint64_t)c->H * c->Dk > DG_MAX_WIDTH)
        return REFUSE("model.d_k", "model.d_k is %u, times %u heads that is above %d", c->Dk, c->H,
            DG_MAX_WIDTH);
    if ((uint64_t)c->H * c->Dv > DG_MAX_WIDTH)
        return REFUSE("model.d_v", "model.d_v is %u, times %u heads that is above %d", c->Dv, c->H,
            DG_MAX_WIDTH);
    const uint32_t heads = dg_config_dec_H(c);
    if ((uint64_t)c->H * c->Dk % heads || (uint64_t)c->H * c->Dv % heads)
        return REFUSE("model.decoder_heads",
            "model.decoder_heads is %u, which does not divide heads times d_k, %u, and times d_v, "
            "%u",
            heads, c->H * c->Dk, c->H * c->Dv);
    if (c->tied_embeddings && c->source_vocab != c->target_vocab)
        return REFUSE("model.tied_embeddings",
            "model.tied_embeddings is true, but source_vocab is %u and target_vocab %u",
            c->source_vocab, c->target_vocab);
    return 0;
}

static int check_ids(const struct dg_config *c, struct dg_error *err)
{
    int64_t target = c->target_vocab, source = c->source_vocab;
    if (c->eos >= target || (c->source_eos && c->eos >= source))
        return REFUSE("model.eos", "model.eos is %d, the vocabularies have %u and %u pieces",
            c->eos, c->source_vocab, c->target_vocab);
    if (c->unk >= target)
        return REFUSE("model.unk", "model.unk is %d, the target vocabulary has %u pieces", c->unk,
            c->target_vocab);
    if (c->unk == c->eos)
        return REFUSE("model.unk", "model.unk is %d, and so is model.eos", c->unk);
    if (c->start >= target)
        return REFUSE("model.start", "model.start is %d, the target vocabulary has %u pieces",
            c->start, c->target_vocab);
    if (c->never >= target)
        return REFUSE("decoding.never", "decoding.never is %d, the target vocabulary has %u pieces",
            c->never, c->target_vocab);
    if (c->never == c->eos)
        return REFUSE("decoding.never", "decoding.never is %d, and so is model.eos", c->never);
    return 0;
}

int dg_config_check(const struct dg_config *c, struct dg_error *err)
{
    const struct dg_fields model = model_fields(c), decoding = decoding_fields(c);
    int rc = dg_fields_check(&model, "model", err);
    if (!rc)
        rc = dg_fields_check(&decoding, "decoding", err);
    if (!rc)
        rc = check_choices(c, err);
    if (!rc)
        rc = check_dims(c, err);
    if (!rc)
        rc = check_ids(c, err);
    return rc;
}

/* Read the layer and the head that alignments are read from. They must exist, or no answer would
 * have alignments. */
static int read_alignment(const struct dg_json *manifest, struct dg_config *c, struct dg_error *err)
{
    int64_t layer = 0, head = 0;
    int rc = dg_json_field_int(manifest, NULL, "alignment_layer", 1, c->dec_layers, &layer, err);
    if (!rc)
        rc = dg_json_field_int(manifest, NULL, "alignment_head", 1, dg_config_dec_H(c), &head, err);
    c->align_layer = (uint32_t)layer;
    c->align_head = (uint32_t)head;
    return rc;
}

int dg_config_read(const struct dg_json *manifest, struct dg_config *c, struct dg_error *err)
{
    const struct dg_json *model = dg_json_get(manifest, "model"),
                         *decoding = dg_json_get(manifest, "decoding");
    struct dg_config read;
    dg_config_base(&read, 2); /* the paper's decoding options, where the manifest names none */
    if (dg_json_typeof(model) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, "model", "model must be an object, not %s",
            dg_json_type_name(dg_json_typeof(model)));
    if (decoding && dg_json_typeof(decoding) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EINVAL, "decoding", "decoding must be an object, not %s",
            dg_json_type_name(dg_json_typeof(decoding)));
    const struct dg_fields m = model_fields(&read), d = decoding_fields(&read);
    int rc = dg_fields_from_json(&m, "model", model, DG_FROM_FILE, err);
    if (!rc)
        rc = dg_fields_from_json(&d, "decoding", decoding, DG_FROM_FILE, err);
    if (!rc)
        rc = dg_config_check(&read, err);
    if (!rc)
        rc = read_alignment(manifest, &read, err);
    if (!rc)
        *c = read;
    return rc;
}

int dg_config_load(const char *dir, struct dg_config *c, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    int rc = dg_bundle_open(dir, &b, err);
    if (!rc)
        rc = dg_config_read(dg_bundle_manifest(b), c, err);
    dg_bundle_close(b);
    return rc;
}

static int write_fields(struct dg_json *manifest, const char *key, const struct dg_fields *t)
{
    struct dg_json *o = dg_json_new_object();
    int rc = dg_fields_to_json(t, o);
    return dg_json_set_take(manifest, key, o) || rc ? DG_ENOMEM : 0;
}

int dg_config_write(const struct dg_config *c, struct dg_json *manifest)
{
    if (dg_config_check(c, NULL))
        return DG_EINVAL;
    const struct dg_fields model = model_fields(c), decoding = decoding_fields(c);
    int rc = write_fields(manifest, "model", &model);
    return rc ? rc : write_fields(manifest, "decoding", &decoding);
}

uint32_t dg_config_output_limit(const struct dg_config *c, uint32_t n_source, uint32_t n_terms)
{
    const uint32_t counted = n_source - (c->source_eos && !n_terms ? 1 : 0);
    const float most = c->length_factor * (float)n_source;
    uint32_t limit = counted + c->extra_length;
    if (c->length_factor > 0 && (float)limit > most)
        limit = (uint32_t)most;
    return limit + n_terms;
}
