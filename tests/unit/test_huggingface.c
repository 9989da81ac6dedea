/* MarianMT directories with faults: unsupported settings are refused by name and value, broken
 * files with the reason, and no manifest is left. tests/parity/test_huggingface.py compares sound
 * ones with transformers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "base/file.h"
#include "model/config.h"
#include "weights/bundle.h"
#include "convert/huggingface/huggingface.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "tests/data/convert/huggingface/learned"

static const char *const files[] = {"config.json", "generation_config.json",
    "tokenizer_config.json", "vocab.json", "source.spm", "target.spm", "model.safetensors"};

struct dirs {
    char in[256], out[300];
};

static int set_up(void **state)
{
    const char *tmp = getenv("TMPDIR");
    struct dirs *d = calloc(1, sizeof *d);
    snprintf(d->in, sizeof d->in, "%s/dg_hf_XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(d->in));
    snprintf(d->out, sizeof d->out, "%s/bundle", d->in);
    *state = d;
    return 0;
}

static void remove_from(const char *dir, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    unlink(path);
}

static int tear_down(void **state)
{
    static const char *const made[] = {"manifest.json", "weights.dgw", "joint.vocab",
        "source.vocab", "target.vocab", "joint.spm", "source.spm", "target.spm"};
    struct dirs *d = *state;
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        remove_from(d->out, made[i]);
    rmdir(d->out);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        remove_from(d->in, files[i]);
    remove_from(d->in, "pytorch_model.bin");
    remove_from(d->in, "model.safetensors.index.json");
    rmdir(d->in);
    free(d);
    return 0;
}

/* Replaces the first `from` of b with `to`. */
static void replace(struct dg_buffer *b, const char *from, const char *to)
{
    struct dg_buffer out;
    char *at = memmem(b->data, b->len, from, strlen(from));
    if (!at)
        fail_msg("there is no %s to replace", from);
    dg_buffer_init(&out);
    dg_buffer_add(&out, b->data, (size_t)(at - b->data));
    dg_buffer_adds(&out, to);
    at += strlen(from);
    dg_buffer_add(&out, at, (size_t)(b->data + b->len - at));
    dg_buffer_deinit(b);
    *b = out;
}

/* Copies the directory with one file changed; `from` NULL: without that file. */
static void copy_with(const struct dirs *d, const char *name, const char *from, const char *to)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[512];
        struct dg_buffer b;
        dg_buffer_init(&b);
        snprintf(path, sizeof path, "%s/%s", FOLDER, files[i]);
        assert_int_equal(dg_file_read(path, &b, NULL), 0);
        bool is = strcmp(files[i], name) == 0;
        if (is && from)
            replace(&b, from, to);
        snprintf(path, sizeof path, "%s/%s", d->in, files[i]);
        unlink(path);
        if (!is || from)
            assert_int_equal(dg_file_write(path, b.data, b.len, NULL), 0);
        dg_buffer_deinit(&b);
    }
}

static int convert(const struct dirs *d, struct dg_error *err)
{
    struct dg_convert_huggingface o = {.dir = d->in, .to = {.out = d->out, .name = "changed"}};
    return dg_convert_huggingface(&o, err);
}

#define C "config.json"
#define G "generation_config.json"
#define T "tokenizer_config.json"
#define V "vocab.json"
#define W "model.safetensors"
#define ADD_C(field) C, "\"d_model\"", field ", \"d_model\""
#define ADD_G(field) G, "\"use_cache\"", field ", \"use_cache\""

static const struct wrong {
    const char *file, *from, *to;
    int code;
    const char *message; /* a part of it */
} wrongs[] = {
    {C, NULL, NULL, DG_ENOTFOUND, "config.json"},
    {C, "{", "[", DG_EFORMAT, "config.json"},
    {C, "\"marian\"", "\"bart\"", DG_EUNSUP, "model_type is \"bart\""},
    {C, "\"model_type\"", "\"other\"", DG_EFORMAT, "model_type is missing"},
    {C, "MarianMTModel", "MarianForCausalLM", DG_EUNSUP, "architectures has \"MarianForCausalLM\""},
    {C, "\"relu\"", "\"gelu_new\"", DG_EUNSUP, "activation_function is \"gelu_new\""},
    {C, "\"d_model\": 16", "\"d_model\": 17", DG_EFORMAT,
        "encoder_attention_heads 2 does not divide d_model 17"},
    {C, "\"d_model\": 16", "\"d_model\": 18", DG_EFORMAT, "embed_positions.weight is not a table"},
    {C, "\"d_model\": 16", "\"d_model\": \"16\"", DG_EINVAL, "d_model"},
    {C, "\"d_model\"", "\"d_mode\"", DG_EFORMAT, "d_model is missing"},
    {C, "\"decoder_ffn_dim\": 24", "\"decoder_ffn_dim\": 32", DG_EFORMAT,
        "24 rows for dec.0.ffn.w1, which has 32"},
    {C, "\"decoder_attention_heads\": 2", "\"decoder_attention_heads\": 3", DG_EFORMAT,
        "decoder_attention_heads 3 does not divide d_model 16"},
    {C, "\"decoder_layers\": 1", "\"decoder_layers\": 2", DG_EFORMAT,
        "tensor model.decoder.layers.1."},
    {C, "\"decoder_layers\": 1", "\"decoder_layers\": 0", DG_EINVAL, "decoder_layers"},
    {C, "\"vocab_size\": 124", "\"vocab_size\": 123", DG_EFORMAT,
        "\"<pad>\" is not a number below 123"},
    {C, "\"vocab_size\": 124", "\"vocab_size\": 125", DG_EINVAL, "tied_embeddings"},
    {C, "\"eos_token_id\": 0", "\"eos_token_id\": [0, 2]", DG_EUNSUP,
        "eos_token_id is a list of 2 ids"},
    {C, "\"eos_token_id\": 0", "\"eos_token_id\": 5", DG_EFORMAT,
        "eos_token_id is 0, config.json says 5"},
    {C, "\"pad_token_id\": 123", "\"pad_token_id\": 122", DG_EFORMAT,
        "pad_token_id is 123, config.json says 122"},
    {G, "\"decoder_start_token_id\": 123", "\"decoder_start_token_id\": 7", DG_EFORMAT,
        "decoder_start_token_id is 7"},
    {ADD_C("\"normalize_before\": true"), DG_EUNSUP, "normalize_before is true"},
    {ADD_C("\"normalize_embedding\": true"), DG_EUNSUP, "normalize_embedding is true"},
    {ADD_C("\"add_final_layer_norm\": true"), DG_EUNSUP, "add_final_layer_norm is true"},
    {ADD_C("\"static_position_embeddings\": false"), DG_EUNSUP,
        "static_position_embeddings is false"},
    {ADD_C("\"quantization_config\": {\"bits\": 4}"), DG_EUNSUP,
        "quantization_config is {\"bits\":4}"},
    {ADD_G("\"bad_words_ids\": [[123], [5]]"), DG_EUNSUP, "bad_words_ids"},
    {ADD_G("\"bad_words_ids\": [[123, 5]]"), DG_EUNSUP, "bad_words_ids"},
    {ADD_G("\"forced_bos_token_id\": 4"), DG_EUNSUP, "forced_bos_token_id is 4"},
    {ADD_G("\"no_repeat_ngram_size\": 3"), DG_EUNSUP, "no_repeat_ngram_size is 3"},
    {ADD_G("\"repetition_penalty\": 1.2"), DG_EUNSUP, "repetition_penalty is 1.2"},
    {ADD_G("\"suppress_tokens\": [4]"), DG_EUNSUP, "suppress_tokens is [4]"},
    {ADD_G("\"do_sample\": true"), DG_EUNSUP, "do_sample is true"},
    {T, "\"source_lang\": \"eng\"", "\"x\": 1", DG_EINVAL, "--source-lang is needed"},
    {T, "\"target_lang\": \"deu\"", "\"target_lang\": \"d u\"", DG_EINVAL,
        "--target-lang is needed"},
    {T, "\"eos_token\": \"</s>\"", "\"eos_token\": \"<e>\"", DG_EFORMAT,
        "<e> has id -1 in the source vocabulary"},
    {T, "\"separate_vocabs\": false", "\"separate_vocabs\": true", DG_ENOTFOUND,
        "target_vocab.json"},
    {V, NULL, NULL, DG_ENOTFOUND, "vocab.json"},
    {V, "\"the\": 3", "\"the\": 4", DG_EFORMAT, "id 4 is both \"the\" and \".\""},
    {V, "\"the\": 3", "\"the\": -3", DG_EFORMAT, "the id of piece \"the\""},
    {V, "\"the\": 3", "\"the\": \"3\"", DG_EFORMAT, "the id of piece \"the\""},
    {V, "\"the\": 3", "\"t\\nhe\": 3", DG_EFORMAT, "id 3 is empty or holds a line end"},
    {V, "\"the\": 3", "\"\": 3", DG_EFORMAT, "id 3 is empty or holds a line end"},
    {V, "\"the\": 3", "\".\": 3", DG_EFORMAT, "vocab.json"},
    {V, "\"</s>\": 0", "\"<s>\": 0", DG_EFORMAT, "</s> has id -1 in the source vocabulary"},
    {"source.spm", NULL, NULL, DG_EFORMAT, "has no source.spm"},
    {"target.spm", NULL, NULL, DG_EFORMAT, "has no target.spm"},
    {W, NULL, NULL, DG_ENOTFOUND, "model.safetensors"},
    {W, "\"F32\"", "\"I32\"", DG_EUNSUP, "tensor final_logits_bias: dtype is \"I32\""},
    {W, "[1,124]", "[124,1]", DG_EFORMAT,
        "tensor final_logits_bias [124,1] does not fit out.b [1,124]"},
    {W, "decoder.layers.0.fc1.bias", "decoder.layers.0.fcX.bias", DG_EFORMAT,
        "tensor model.decoder.layers.0.fc1.bias is missing"},
    {W, "final_logits_bias", "final_logits_xxxx", DG_EUNSUP,
        "tensor final_logits_xxxx belongs to no part"},
    {W, "model.shared.weight", "model.sharex.weight", DG_EFORMAT,
        "tensor model.encoder.embed_tokens.weight is missing"},
    {W, "model.decoder.embed_positions", "model.decoder.embed_posit_ons", DG_EUNSUP,
        "encoder.embed_positions.weight is no"},
    {W, "{\"dtype\":\"F32\",\"shape\":[16,16]", "{\"dtype\":\"F32\",\"shape\":[8,32] ", DG_EFORMAT,
        "does not fit dec.0.cross.kv.w"},
};

static void what_is_wrong_is_refused(void **state)
{
    const struct dirs *d = *state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        const struct wrong *w = &wrongs[i];
        struct dg_error err = {0};
        char path[512];
        copy_with(d, w->file, w->from, w->to);
        int rc = convert(d, &err);
        if (rc != w->code || !strstr(err.message, w->message))
            fail_msg("%s, %s: %d \"%s\", expected %d \"%s\"", w->file, w->to ? w->to : "left out",
                rc, err.message, w->code, w->message);
        snprintf(path, sizeof path, "%s/manifest.json", d->out);
        assert_int_not_equal(access(path, F_OK), 0);
    }
}

static struct dg_bundle *converted(const struct dirs *d, struct dg_config *c)
{
    struct dg_error err = {0};
    struct dg_bundle *b = NULL;
    if (convert(d, &err) || dg_bundle_open(d->out, &b, &err) || dg_bundle_verify(b, &err) ||
        dg_config_read(dg_bundle_manifest(b), c, &err))
        fail_msg("%s", err.message);
    return b;
}

/* Settings that state the default. */
static void what_is_neutral_is_taken(void **state)
{
    static const char *const cases[][3] = {
        {ADD_C("\"normalize_before\": false, \"static_position_embeddings\": true, "
               "\"add_bias_logits\": false")},
        {ADD_G("\"bad_words_ids\": [[123]], \"no_repeat_ngram_size\": 0, \"repetition_penalty\": "
               "1.0")},
        {ADD_G("\"forced_bos_token_id\": null, \"suppress_tokens\": [], \"do_sample\": false, "
               "\"max_length\": 512")},
        {C, "\"eos_token_id\": 0", "\"eos_token_id\": [0]"},
        {C, "\"relu\"", "\"silu\""},
        {G, NULL, NULL},
        {T, "\"eos_token\": \"</s>\"", "\"eos_token\": {\"content\": \"</s>\", \"lstrip\": false}"},
        {W, "}}", "}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dg_config c;
        copy_with(*state, cases[i][0], cases[i][1], cases[i][2]);
        dg_bundle_close(converted(*state, &c));
        assert_int_equal(c.never, 123);
        assert_int_equal(c.start, 123);
        assert_int_equal(c.act, i == 4 ? DG_ACT_SWISH : DG_ACT_RELU);
    }
}

/* Padding must have no probability: its bias is minus infinity, whatever the file says. */
static void renormalised(void **state)
{
    struct dg_config c;
    copy_with(*state, ADD_G("\"renormalize_logits\": true"));
    struct dg_bundle *b = converted(*state, &c);
    const struct dg_tensor *t = dg_weights_find(dg_bundle_weights(b), "out.b");
    assert_non_null(t);
    const float *bias = t->stored[0].data;
    assert_true(isinf(bias[123]) && bias[123] < 0);
    assert_true(isfinite(bias[122]) && isfinite(bias[0]));
    dg_bundle_close(b);
}

/* An id without a piece gets a name of its own, so that lines and ids stay together. */
static void missing_pieces_are_named(void **state)
{
    const struct dirs *d = *state;
    struct dg_config c;
    struct dg_buffer text;
    char path[512];
    copy_with(d, V, "\"the\": 3,", "");
    dg_bundle_close(converted(d, &c));
    dg_buffer_init(&text);
    snprintf(path, sizeof path, "%s/joint.vocab", d->out);
    assert_int_equal(dg_file_read(path, &text, NULL), 0);
    assert_non_null(strstr(text.data, "</s>\n<unk>\n\xE2\x96\x81\n<id:3>\n.\n"));
    dg_buffer_deinit(&text);
}

/* A NaN is found in any tensor. */
static void nan_is_refused(void **state)
{
    const struct dirs *d = *state;
    struct dg_error err = {0};
    struct dg_buffer b;
    char path[512];
    uint64_t header;
    const uint32_t nan = 0x7fc00001;
    copy_with(d, W, "}}", "}}");
    snprintf(path, sizeof path, "%s/%s", d->in, W);
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(path, &b, NULL), 0);
    memcpy(&header, b.data, 8);
    memcpy(b.data + 8 + header + 10800 + 40, &nan, 4);
    assert_int_equal(dg_file_write(path, b.data, b.len, NULL), 0);
    dg_buffer_deinit(&b);
    assert_int_equal(convert(d, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "encoder_attn.k_proj.weight holds a NaN"));
}

static void write_empty(const char *dir, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(dg_file_write(path, "{}", 2, NULL), 0);
}

/* Invalid pickles and missing shards: the message says what is wrong. */
static void other_weights_are_checked(void **state)
{
    const struct dirs *d = *state;
    struct dg_error err = {0};
    copy_with(d, W, NULL, NULL);
    assert_int_equal(convert(d, &err), DG_ENOTFOUND);
    assert_non_null(strstr(err.message, "neither model.safetensors nor pytorch_model.bin"));
    write_empty(d->in, "pytorch_model.bin");
    dg_error_clear(&err);
    assert_int_equal(convert(d, &err), DG_EUNSUP);
    assert_non_null(strstr(err.message, "pytorch_model.bin: opcode 0x7b"));
    write_empty(d->in, "model.safetensors.index.json");
    dg_error_clear(&err);
    assert_int_equal(convert(d, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "no weight_map"));
}

static void arguments_are_checked(void **state)
{
    const struct dirs *d = *state;
    struct dg_convert_huggingface o = {
        .dir = FOLDER, .to = {.out = d->out, .source_lang = "en,,de"}};
    struct dg_error err = {0};
    assert_int_equal(dg_convert_huggingface(&o, &err), DG_EINVAL);
    assert_string_equal(err.field, "--source-lang");
    o.to.source_lang = "en,EN";
    assert_int_equal(dg_convert_huggingface(&o, NULL), DG_EINVAL);
    o.to.source_lang = "en";
    o.to.type = DG_S8;
    assert_int_equal(dg_convert_huggingface(&o, NULL), DG_EINVAL);
    o.to.type = DG_F32;
    o.to.out = NULL;
    assert_int_equal(dg_convert_huggingface(&o, NULL), DG_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_wrong_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_neutral_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(renormalised, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_pieces_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nan_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_weights_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arguments_are_checked, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
