#include "convert/huggingface/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define UNSUPPORTED(field, ...) dg_error_field(err, DG_EUNSUP, field, __VA_ARGS__)
#define WRONG(field, ...) dg_error_field(err, DG_EFORMAT, field, __VA_ARGS__)

/* A setting that must have no effect: missing, null, or this value. */
struct neutral {
    const char *key;
    enum { IS_FALSE, IS_TRUE, IS_ZERO, IS_ONE, IS_EMPTY } value;
};

/* Fields of config.json that older versions wrote. */
static const struct neutral model_rules[] = {
    {"normalize_before", IS_FALSE},
    {"normalize_embedding", IS_FALSE},
    {"add_final_layer_norm", IS_FALSE},
    {"static_position_embeddings", IS_TRUE},
    {"is_encoder_decoder", IS_TRUE},
    {"is_decoder", IS_FALSE},
    {"quantization_config", IS_EMPTY},
};

/* Generation settings that change which piece is chosen, which a bundle cannot express. The others
 * (lengths, beams, sampling temperatures) are for the request to choose. */
static const struct neutral generation_rules[] = {
    {"do_sample", IS_FALSE},
    {"force_words_ids", IS_EMPTY},
    {"constraints", IS_EMPTY},
    {"suppress_tokens", IS_EMPTY},
    {"begin_suppress_tokens", IS_EMPTY},
    {"sequence_bias", IS_EMPTY},
    {"exponential_decay_length_penalty", IS_EMPTY},
    {"no_repeat_ngram_size", IS_ZERO},
    {"encoder_no_repeat_ngram_size", IS_ZERO},
    {"min_length", IS_ZERO},
    {"min_new_tokens", IS_ZERO},
    {"repetition_penalty", IS_ONE},
    {"encoder_repetition_penalty", IS_ONE},
    {"guidance_scale", IS_ONE},
    {"num_beam_groups", IS_ONE},
    {"diversity_penalty", IS_ZERO},
};

static bool is_neutral(const struct dg_json *v, const struct neutral *rule)
{
    enum dg_json_type type = dg_json_typeof(v);
    bool number = type == DG_JSON_INT || type == DG_JSON_REAL;
    if (type == DG_JSON_NULL)
        return true;
    switch (rule->value) {
    case IS_FALSE:
    case IS_TRUE: return type == DG_JSON_BOOL && dg_json_bool(v) == (rule->value == IS_TRUE);
    case IS_ZERO: return number && dg_json_number(v) == 0;
    case IS_ONE: return number && dg_json_number(v) == 1;
    case IS_EMPTY:
        return (type == DG_JSON_ARRAY || type == DG_JSON_OBJECT) && dg_json_length(v) == 0;
    }
    return false;
}

static int check_rules(const struct dg_json *o, const char *file, const struct neutral *rules,
    size_t n, struct dg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct dg_json *v = dg_json_get(o, rules[i].key);
        struct dg_buffer text;
        if (is_neutral(v, &rules[i]))
            continue;
        dg_buffer_init(&text);
        dg_json_write(v, 0, &text);
        UNSUPPORTED(rules[i].key, "%s: %s is %.80s, which is not supported", file, rules[i].key,
            text.data ? text.data : "?");
        dg_buffer_deinit(&text);
        return DG_EUNSUP;
    }
    return 0;
}

/* Read a number that is required. */
static int read_number(const struct dg_json *o, const char *key, int64_t min, int64_t max,
    uint32_t *out, struct dg_error *err)
{
    int64_t v = min;
    if (dg_json_typeof(dg_json_get(o, key)) == DG_JSON_NULL)
        return WRONG(key, "config.json: %s is missing", key);
    int rc = dg_json_field_int(o, "config.json", key, min, max, &v, err);
    *out = (uint32_t)v;
    return rc;
}

/* Read a field that may be missing or null; *out then stays as it is. */
static int read_bool(const struct dg_json *o, const char *key, bool *out, struct dg_error *err)
{
    if (dg_json_typeof(dg_json_get(o, key)) == DG_JSON_NULL)
        return 0;
    return dg_json_field_bool(o, "config.json", key, out, err);
}

/* M2M-100 and NLLB share one class in transformers; their tokenizers tell them apart. */
static int read_tokenizer_kind(
    const struct dg_json *tokenizer, struct dg_hf_options *o, struct dg_error *err)
{
    const char *class = dg_json_string(dg_json_get(tokenizer, "tokenizer_class"), NULL);
    if (!class)
        return WRONG("tokenizer_class",
            "tokenizer_config.json: tokenizer_class is missing, which tells M2M-100 from NLLB");
    if (strcmp(class, "M2M100Tokenizer") == 0)
        o->kind = DG_HF_M2M100;
    else if (strcmp(class, "NllbTokenizer") == 0 || strcmp(class, "NllbTokenizerFast") == 0)
        o->kind = DG_HF_NLLB;
    else
        return UNSUPPORTED("tokenizer_class",
            "tokenizer_config.json: tokenizer_class is \"%.60s\", supported are M2M100Tokenizer "
            "and NllbTokenizer",
            class);
    if (dg_json_bool(dg_json_get(tokenizer, "legacy_behaviour")))
        return UNSUPPORTED("legacy_behaviour",
            "tokenizer_config.json: legacy_behaviour is true, which is not supported");
    o->language_codes = dg_json_string(dg_json_get(tokenizer, "language_codes"), NULL);
    return 0;
}

static int read_kind(const struct dg_hf_files *f, struct dg_hf_options *o, struct dg_error *err)
{
    const char *kind = dg_json_string(dg_json_get(f->config, "model_type"), NULL);
    const struct dg_json *list = dg_json_get(f->config, "architectures");
    if (!kind)
        return WRONG("model_type", "config.json: model_type is missing");
    const bool marian = strcmp(kind, "marian") == 0;
    const char *class = marian ? "MarianMTModel" : "M2M100ForConditionalGeneration";
    if (!marian && strcmp(kind, "m2m_100") != 0)
        return UNSUPPORTED("model_type",
            "config.json: model_type is \"%.60s\", supported are marian and m2m_100", kind);
    for (size_t i = 0; i < dg_json_length(list); i++) {
        const char *name = dg_json_string(dg_json_at(list, i), NULL);
        if (!name || strcmp(name, class) != 0)
            return UNSUPPORTED("architectures",
                "config.json: architectures has \"%.60s\", only %s is supported", name ? name : "",
                class);
    }
    return marian ? 0 : read_tokenizer_kind(f->tokenizer, o, err);
}

/* Read a field of both sides; *decoder is 0 if it is the same as *encoder. */
static int read_both(const struct dg_json *o, const char *key, const char *decoder_key, int64_t max,
    uint32_t *encoder, uint32_t *decoder, struct dg_error *err)
{
    int rc = read_number(o, key, 1, max, encoder, err);
    if (!rc)
        rc = read_number(o, decoder_key, 1, max, decoder, err);
    if (*decoder == *encoder)
        *decoder = 0;
    return rc;
}

static int read_dims(const struct dg_json *o, struct dg_config *c, struct dg_error *err)
{
    int rc = read_number(o, "d_model", 1, 65536, &c->D, err);
    if (!rc)
        rc = read_both(o, "encoder_ffn_dim", "decoder_ffn_dim", 262144, &c->F, &c->dec_F, err);
    if (!rc)
        rc = read_both(
            o, "encoder_attention_heads", "decoder_attention_heads", 1024, &c->H, &c->dec_H, err);
    if (!rc)
        rc = read_number(o, "encoder_layers", 1, DG_MAX_LAYERS, &c->enc_layers, err);
    if (!rc)
        rc = read_number(o, "decoder_layers", 1, DG_MAX_LAYERS, &c->dec_layers, err);
    if (!rc)
        rc = read_number(o, "vocab_size", 2, 4194304, &c->source_vocab, err);
    if (rc)
        return rc;
    c->target_vocab = c->source_vocab;
    if (dg_json_typeof(dg_json_get(o, "decoder_vocab_size")) != DG_JSON_NULL)
        rc = read_number(o, "decoder_vocab_size", 2, 4194304, &c->target_vocab, err);
    if (!rc && c->D % c->H)
        rc = WRONG("encoder_attention_heads",
            "config.json: encoder_attention_heads %u does not divide d_model %u", c->H, c->D);
    if (!rc && c->D % dg_config_dec_H(c))
        rc = WRONG("decoder_attention_heads",
            "config.json: decoder_attention_heads %u does not divide d_model %u", c->dec_H, c->D);
    c->Dk = c->Dv = c->D / c->H;
    return rc;
}

static int read_activation(const struct dg_json *o, struct dg_config *c, struct dg_error *err)
{
    static const struct {
        const char *name;
        enum dg_act act;
    } known[] = {{"swish", DG_ACT_SWISH}, {"silu", DG_ACT_SWISH}, {"relu", DG_ACT_RELU},
        {"gelu", DG_ACT_GELU}};
    const char *name = c->pre_norm ? "relu" : "gelu"; /* the default of the class */
    int rc = dg_json_field_string(o, "config.json", "activation_function", &name, err);
    for (size_t i = 0; !rc && i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) == 0) {
            c->act = known[i].act;
            return 0;
        }
    }
    return rc ? rc
              : UNSUPPORTED("activation_function",
                    "config.json: activation_function is \"%.60s\", supported are swish, silu, "
                    "relu, gelu",
                    name);
}

/* Read an id from config.json and generation_config.json; if both have it, they must agree. -1 when
 * neither has. A list of one id counts as that id. */
static int read_id(const struct dg_hf_files *f, const char *key, int32_t *out, struct dg_error *err)
{
    const struct dg_json *from[2] = {dg_json_get(f->config, key), dg_json_get(f->generation, key)};
    *out = -1;
    for (int i = 0; i < 2; i++) {
        const struct dg_json *v = from[i];
        const char *file = i ? "generation_config.json" : "config.json";
        if (dg_json_typeof(v) == DG_JSON_ARRAY && dg_json_length(v) == 1)
            v = dg_json_at(v, 0);
        if (dg_json_typeof(v) == DG_JSON_NULL)
            continue;
        if (dg_json_typeof(v) == DG_JSON_ARRAY)
            return UNSUPPORTED(key, "%s: %s is a list of %zu ids, only one is supported", file, key,
                dg_json_length(v));
        int64_t id = dg_json_int(v);
        if (dg_json_typeof(v) != DG_JSON_INT || id < 0 || id > INT32_MAX)
            return WRONG(key, "%s: %s is not an id", file, key);
        if (*out >= 0 && *out != id)
            return WRONG(
                key, "%s: %s is %lld, config.json says %d", file, key, (long long)id, *out);
        *out = (int32_t)id;
    }
    return 0;
}

/* Refuse a forced first piece. For M2M-100 and NLLB that piece is the request's language, whatever
 * the settings say. */
static int check_forced(
    const struct dg_json *generation, enum dg_hf_kind kind, struct dg_error *err)
{
    static const struct neutral rule[] = {{"forced_bos_token_id", IS_EMPTY}};
    return kind == DG_HF_MARIAN ? check_rules(generation, "generation settings", rule, 1, err) : 0;
}

/* Refuse pieces that may never be output, except padding. */
static int check_bad_words(const struct dg_json *generation, int32_t pad, struct dg_error *err)
{
    const struct dg_json *list = dg_json_get(generation, "bad_words_ids");
    for (size_t i = 0; i < dg_json_length(list); i++) {
        const struct dg_json *words = dg_json_at(list, i);
        if (dg_json_length(words) != 1 || dg_json_typeof(dg_json_at(words, 0)) != DG_JSON_INT ||
            dg_json_int(dg_json_at(words, 0)) != pad)
            return UNSUPPORTED("bad_words_ids",
                "bad_words_ids has more than the padding piece (id %d), which is not supported",
                pad);
    }
    return 0;
}

static int read_ids(const struct dg_hf_files *f, const struct dg_json *generation,
    struct dg_config *c, struct dg_error *err)
{
    int32_t pad = -1;
    int rc = read_id(f, "eos_token_id", &c->eos, err);
    if (!rc)
        rc = read_id(f, "pad_token_id", &pad, err);
    if (!rc)
        rc = read_id(f, "decoder_start_token_id", &c->start, err);
    if (!rc && c->eos < 0)
        rc = WRONG("eos_token_id", "config.json: eos_token_id is missing");
    if (!rc && c->start < 0)
        rc = WRONG("decoder_start_token_id", "config.json: decoder_start_token_id is missing");
    if (!rc)
        rc = check_bad_words(generation, pad, err);
    c->never = pad == c->eos ? -1 : pad;
    return rc;
}

/* Get a piece's name, written as text or as {"content": text, ...}. */
static const char *piece_name(
    const struct dg_json *tokenizer, const char *key, const char *otherwise)
{
    const struct dg_json *v = dg_json_get(tokenizer, key);
    const char *text = dg_json_string(v, NULL);
    if (!text)
        text = dg_json_string(dg_json_get(v, "content"), NULL);
    return text ? text : otherwise;
}

static void read_names(const struct dg_hf_files *f, struct dg_hf_options *o)
{
    o->eos_piece = piece_name(f->tokenizer, "eos_token", "</s>");
    o->unk_piece = piece_name(f->tokenizer, "unk_token", "<unk>");
    o->source_lang = dg_json_string(dg_json_get(f->tokenizer, "source_lang"), NULL);
    o->target_lang = dg_json_string(dg_json_get(f->tokenizer, "target_lang"), NULL);
    o->version = dg_json_string(dg_json_get(f->config, "transformers_version"), NULL);
    o->origin = dg_json_string(dg_json_get(f->config, "_name_or_path"), NULL);
    o->separate_vocabs = dg_json_bool(dg_json_get(f->tokenizer, "separate_vocabs"));
}

/* Read the conventions of the class in transformers, with the class's defaults. */
static int read_conventions(const struct dg_json *o, const struct dg_json *generation,
    struct dg_config *c, struct dg_hf_options *options, struct dg_error *err)
{
    const bool marian = options->kind == DG_HF_MARIAN;
    bool scale = !marian; /* the class's default */
    const struct dg_json *beams = dg_json_get(generation, "num_beams");
    options->shared = options->tied = true;
    int rc = read_bool(o, "scale_embedding", &scale, err);
    if (!rc)
        rc = read_bool(o, "share_encoder_decoder_embeddings", &options->shared, err);
    if (!rc)
        rc = read_bool(o, "tie_word_embeddings", &options->tied, err);
    c->embed_scale = scale ? sqrtf((float)c->D) : 1;
    c->norm_eps = 1e-5f;
    c->positions = marian ? DG_POS_HALVES : DG_POS_MARIAN;
    c->first_position = marian ? 0 : 2; /* after the positions of padding */
    c->pre_norm = !marian;
    c->attention_bias = true;
    c->source_eos = true;
    if (dg_json_int(beams) > 1 && dg_json_int(beams) <= 32)
        c->beam = (uint32_t)dg_json_int(beams);
    if (!rc)
        rc = read_activation(o, c, err);
    options->renormalize = dg_json_bool(dg_json_get(generation, "renormalize_logits"));
    return rc;
}

int dg_hf_config_read(
    const struct dg_hf_files *f, struct dg_config *c, struct dg_hf_options *o, struct dg_error *err)
{
    /* transformers reads generation settings from their own file, or from config.json if there is
     * none. */
    const struct dg_json *generation = f->generation ? f->generation : f->config;
    const char *file = f->generation ? "generation_config.json" : "config.json";
    memset(o, 0, sizeof *o);
    dg_config_base(c, 2); /* the paper's decoding options */
    int rc = read_kind(f, o, err);
    if (!rc)
        rc = check_forced(generation, o->kind, err);
    if (!rc)
        rc = check_rules(
            f->config, "config.json", model_rules, sizeof model_rules / sizeof model_rules[0], err);
    if (!rc)
        rc = check_rules(generation, file, generation_rules,
            sizeof generation_rules / sizeof generation_rules[0], err);
    if (!rc)
        rc = read_dims(f->config, c, err);
    if (!rc)
        rc = read_conventions(f->config, generation, c, o, err);
    if (!rc)
        rc = read_ids(f, generation, c, err);
    if (!rc)
        read_names(f, o);
    return rc;
}
