/* The configuration in a manifest: it reads back as written, every field is checked by name,
 * parameters are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "model/params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char base_text[] =
    "{\"model\":{\"source_vocab\":100,\"target_vocab\":100,\"d_model\":512,\"d_ff\":2048,\"heads\":"
    "8,"
    "\"d_k\":64,\"d_v\":64,\"encoder_layers\":6,\"decoder_layers\":6,\"norm_eps\":1e-6,"
    "\"embed_scale\":22.627417,\"positions\":\"paper\",\"first_position\":0,\"max_positions\":0,"
    "\"activation\":\"relu\",\"attention_bias\":false,\"output_bias\":false,"
    "\"tied_embeddings\":true,\"tied_output\":true,\"eos\":0,\"unk\":1,\"start\":\"zero\","
    "\"source_eos\":true},\"decoding\":{\"beam_size\":4,\"length_penalty\":0.6,\"extra_length\":50}}";

static struct dg_json *parse(const char *text)
{
    struct dg_json *v = dg_json_parse(text, strlen(text), NULL);
    assert_non_null(v);
    return v;
}

static void assert_same(const struct dg_config *a, const struct dg_config *b)
{
    assert_int_equal(a->source_vocab, b->source_vocab);
    assert_int_equal(a->target_vocab, b->target_vocab);
    assert_int_equal(a->D, b->D);
    assert_int_equal(a->F, b->F);
    assert_int_equal(a->H, b->H);
    assert_int_equal(a->Dk, b->Dk);
    assert_int_equal(a->Dv, b->Dv);
    assert_int_equal(a->enc_layers, b->enc_layers);
    assert_int_equal(a->dec_layers, b->dec_layers);
    assert_true(a->norm_eps == b->norm_eps && a->embed_scale == b->embed_scale);
    assert_int_equal(a->positions, b->positions);
    assert_int_equal(a->first_position, b->first_position);
    assert_int_equal(a->decoder, b->decoder);
    assert_int_equal(a->pre_norm, b->pre_norm);
    assert_int_equal(a->dec_F, b->dec_F);
    assert_int_equal(a->dec_H, b->dec_H);
    assert_true(a->length_factor == b->length_factor);
    assert_int_equal(a->max_source, b->max_source);
    assert_int_equal(a->max_positions, b->max_positions);
    assert_int_equal(a->act, b->act);
    assert_int_equal(a->attention_bias, b->attention_bias);
    assert_int_equal(a->output_bias, b->output_bias);
    assert_int_equal(a->tied_embeddings, b->tied_embeddings);
    assert_int_equal(a->tied_output, b->tied_output);
    assert_int_equal(a->eos, b->eos);
    assert_int_equal(a->unk, b->unk);
    assert_int_equal(a->start, b->start);
    assert_int_equal(a->source_eos, b->source_eos);
    assert_int_equal(a->beam, b->beam);
    assert_true(a->alpha == b->alpha);
    assert_int_equal(a->extra_length, b->extra_length);
    assert_int_equal(a->never, b->never);
}

static void base_is_the_papers(void **state)
{
    (void)state;
    struct dg_config base, read;
    struct dg_error err = {0};
    struct dg_json *v = parse(base_text);
    dg_config_base(&base, 100);
    assert_int_equal(dg_config_check(&base, &err), 0);
    if (dg_config_read(v, &read, &err) != 0)
        fail_msg("%s", err.message);
    assert_same(&base, &read);
    dg_json_free(v);
}

/* Returns a configuration in which no field has base's value. */
static struct dg_config other(void)
{
    return (struct dg_config){.source_vocab = 321,
        .target_vocab = 654,
        .D = 96,
        .F = 100,
        .H = 3,
        .Dk = 7,
        .Dv = 5,
        .enc_layers = 2,
        .dec_layers = 1,
        .norm_eps = 1e-5f,
        .embed_scale = 0.1f,
        .positions = DG_POS_LEARNED,
        .max_positions = 77,
        .act = DG_ACT_SWISH,
        .attention_bias = true,
        .output_bias = true,
        .eos = 2,
        .unk = -1,
        .start = 5,
        .beam = 21,
        .alpha = 0.3f,
        .extra_length = 300,
        .never = 9};
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    struct dg_config configs[4], read;
    struct dg_error err = {0};
    configs[0] = other();
    dg_config_base(&configs[1], 37000);
    configs[2] = configs[1];
    configs[2].positions = DG_POS_MARIAN;
    configs[2].first_position = 1;
    configs[2].act = DG_ACT_GELU;
    configs[3] = configs[1];
    configs[3].decoder = DG_DECODER_SSRU;
    configs[3].pre_norm = true;
    configs[3].first_position = 2;
    configs[3].dec_F = 1024;
    configs[3].dec_H = 4;
    configs[3].length_factor = 2.5f;
    configs[3].max_source = 128;
    for (int i = 0; i < 4; i++) {
        struct dg_json *m = dg_json_new_object();
        struct dg_buffer text;
        dg_buffer_init(&text);
        assert_int_equal(dg_config_write(&configs[i], m), 0);
        assert_int_equal(dg_json_write(m, 0, &text), 0);
        struct dg_json *again = parse(text.data);
        if (dg_config_read(again, &read, &err) != 0)
            fail_msg("%s", err.message);
        assert_same(&configs[i], &read);
        if (i == 0) /* readable: not 9.99999975e-06 */
            assert_true(strstr(text.data, "\"norm_eps\":1e-5,") ||
                        strstr(text.data, "\"norm_eps\":1e-05,"));
        if (i == 1) /* the paper's model does not mention features that it lacks */
            assert_true(!strstr(text.data, "ssru") && !strstr(text.data, "pre_norm") &&
                        !strstr(text.data, "decoder_d_ff") && !strstr(text.data, "decoder_heads") &&
                        !strstr(text.data, "length_factor") &&
                        !strstr(text.data, "max_source_tokens"));
        dg_json_free(again);
        dg_json_free(m);
        dg_buffer_deinit(&text);
    }
    configs[0].D = 0;
    struct dg_json *m = dg_json_new_object();
    assert_int_equal(dg_config_write(&configs[0], m), DG_EINVAL);
    assert_int_equal(dg_json_length(m), 0);
    dg_json_free(m);
}

static void decoding_and_max_positions_are_optional(void **state)
{
    (void)state;
    struct dg_config c;
    struct dg_json *v = parse(base_text);
    char *text = strdup(base_text);
    *strstr(text, ",\"decoding\"") = '\0';
    strcat(text, "}");
    char *at = strstr(text, "\"max_positions\":0,");
    memmove(at, at + 18, strlen(at + 18) + 1);
    dg_json_free(v);
    v = parse(text);
    assert_int_equal(dg_config_read(v, &c, NULL), 0);
    assert_int_equal(c.beam, 4);
    assert_true(c.alpha == 0.6f && c.extra_length == 50 && c.max_positions == 0);
    dg_json_free(v);
    free(text);
}

/* With `old` replaced by `new` the text is refused, naming `field`. */
static const struct wrong {
    const char *old, *new, *field;
    int code;
} wrongs[] = {
    {"\"source_vocab\":100", "\"source_vocab\":1", "model.source_vocab", DG_EINVAL},
    {"\"source_vocab\":100", "\"source_vocab\":101", "model.tied_embeddings", DG_EINVAL},
    {"\"target_vocab\":100", "\"target_vocab\":9999999", "model.target_vocab", DG_EINVAL},
    {"\"d_model\":512", "\"d_model\":0", "model.d_model", DG_EINVAL},
    {"\"d_model\":512", "\"d_model\":511", "model.d_model", DG_EINVAL},
    {"\"d_model\":512", "\"d_model\":4294967808", "model.d_model", DG_EINVAL},
    {"\"d_model\":512", "\"d_model\":\"512\"", "model.d_model", DG_EINVAL},
    {"\"d_model\":512", "\"d_model\":512.5", "model.d_model", DG_EINVAL},
    {"\"d_model\":512,", "", "model.d_model", DG_EINVAL},
    {"\"d_ff\":2048", "\"d_ff\":-1", "model.d_ff", DG_EINVAL},
    {"\"heads\":8", "\"heads\":0", "model.heads", DG_EINVAL},
    {"\"heads\":8", "\"heads\":8,\"decoder_heads\":7", "model.decoder_heads", DG_EINVAL},
    {"\"heads\":8", "\"heads\":8,\"decoder\":\"aan\"", "model.decoder", DG_EINVAL},
    {"\"heads\":8", "\"heads\":8,\"decoder\":1", "model.decoder", DG_EINVAL},
    {"\"heads\":8", "\"heads\":8,\"pre_norm\":\"yes\"", "model.pre_norm", DG_EINVAL},
    {"\"heads\":8", "\"heads\":8,\"decoder_d_ff\":-1", "model.decoder_d_ff", DG_EINVAL},
    {"\"heads\":8", "\"heads\":1025", "model.heads", DG_EINVAL},
    {"\"d_k\":64", "\"d_k\":0", "model.d_k", DG_EINVAL},
    {"\"d_k\":64", "\"d_k\":8193", "model.d_k", DG_EINVAL},
    {"\"d_v\":64", "\"d_v\":8193", "model.d_v", DG_EINVAL},
    {"\"encoder_layers\":6", "\"encoder_layers\":65", "model.encoder_layers", DG_EINVAL},
    {"\"decoder_layers\":6", "\"decoder_layers\":0", "model.decoder_layers", DG_EINVAL},
    {"\"norm_eps\":1e-6", "\"norm_eps\":0", "model.norm_eps", DG_EINVAL},
    {"\"norm_eps\":1e-6", "\"norm_eps\":\"small\"", "model.norm_eps", DG_EINVAL},
    {"\"embed_scale\":22.627417", "\"embed_scale\":1e39", "model.embed_scale", DG_EINVAL},
    {"\"embed_scale\":22.627417", "\"embed_scale\":-1", "model.embed_scale", DG_EINVAL},
    {"\"positions\":\"paper\"", "\"positions\":\"rotary\"", "model.positions", DG_EINVAL},
    {"\"positions\":\"paper\"", "\"positions\":2", "model.positions", DG_EINVAL},
    {"\"positions\":\"paper\"", "\"positions\":\"learned\"", "model.max_positions", DG_EINVAL},
    {"\"first_position\":0", "\"first_position\":3", "model.first_position", DG_EINVAL},
    {"\"max_positions\":0", "\"max_positions\":512", "model.max_positions", DG_EINVAL},
    {"\"activation\":\"relu\"", "\"activation\":\"tanh\"", "model.activation", DG_EINVAL},
    {"\"attention_bias\":false", "\"attention_bias\":0", "model.attention_bias", DG_EINVAL},
    {"\"output_bias\":false", "\"output_bias\":null", "model.output_bias", DG_EINVAL},
    {"\"tied_embeddings\":true", "\"tied_embeddings\":\"yes\"", "model.tied_embeddings", DG_EINVAL},
    {"\"tied_output\":true,", "", "model.tied_output", DG_EINVAL},
    {"\"eos\":0", "\"eos\":100", "model.eos", DG_EINVAL},
    {"\"eos\":0", "\"eos\":-1", "model.eos", DG_EINVAL},
    {"\"unk\":1", "\"unk\":0", "model.unk", DG_EINVAL},
    {"\"unk\":1", "\"unk\":100", "model.unk", DG_EINVAL},
    {"\"start\":\"zero\"", "\"start\":\"nought\"", "model.start", DG_EINVAL},
    {"\"start\":\"zero\"", "\"start\":100", "model.start", DG_EINVAL},
    {"\"source_eos\":true", "\"source_eos\":1", "model.source_eos", DG_EINVAL},
    {"\"source_eos\":true", "\"source_eos\":true,\"dropout\":0.1", "model.dropout", DG_EINVAL},
    {"\"beam_size\":4", "\"beam_size\":33", "decoding.beam_size", DG_EINVAL},
    {"\"beam_size\":4", "\"beam\":0", "decoding.beam", DG_EINVAL},
    {"\"length_penalty\":0.6", "\"length_penalty\":-0.1", "decoding.length_penalty", DG_EINVAL},
    {"\"length_penalty\":0.6", "\"alpha\":11", "decoding.alpha", DG_EINVAL},
    {"\"extra_length\":50", "\"extra_length\":65537", "decoding.extra_length", DG_EINVAL},
    {"\"extra_length\":50", "\"extra_length\":50,\"top_k\":1", "decoding.top_k", DG_EINVAL},
    {"\"extra_length\":50", "\"extra_length\":50,\"never\":100", "decoding.never", DG_EINVAL},
    {"\"extra_length\":50", "\"extra_length\":50,\"never\":0", "decoding.never",
        DG_EINVAL}, /* </s> */
    {"\"extra_length\":50", "\"extra_length\":50,\"never\":\"a\"", "decoding.never", DG_EINVAL},
    {"\"decoding\":{", "\"decoding\":[{", "decoding", DG_EINVAL},
    {"\"model\":{", "\"modell\":{", "model", DG_EINVAL},
};

static void every_field_is_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct dg_config c, before;
        struct dg_error err = {0};
        char text[2048];
        const char *at = strstr(base_text, wrongs[i].old);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - base_text), base_text, wrongs[i].new,
            at + strlen(wrongs[i].old));
        if (strcmp(wrongs[i].field, "decoding") == 0) /* the list is still open */
            strcpy(text + strlen(text) - 1, "]}");
        struct dg_json *v = parse(text);
        memset(&c, 0x5a, sizeof c);
        before = c;
        int rc = dg_config_read(v, &c, &err);
        if (rc != wrongs[i].code || strcmp(err.field, wrongs[i].field) != 0)
            fail_msg("%s: %d, field \"%s\" (%s), expected \"%s\"", wrongs[i].new, rc, err.field,
                err.message, wrongs[i].field);
        assert_memory_equal(&c, &before, sizeof c); /* left unchanged */
        dg_json_free(v);
    }
}

/* Older manifests say "beam" and "alpha"; new ones are written with the API's names. */
static void former_names_are_read(void **state)
{
    static const char decoding[] = "\"decoding\":{\"beam\":7,\"alpha\":1.25}}";
    struct dg_config c;
    struct dg_buffer b;
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, "%.*s%s", (int)(strstr(base_text, "\"decoding\"") - base_text),
        base_text, decoding);
    struct dg_json *v = parse(text), *written = dg_json_new_object();
    assert_int_equal(dg_config_read(v, &c, NULL), 0);
    assert_int_equal(c.beam, 7);
    assert_true(c.alpha == 1.25f);
    dg_buffer_init(&b);
    assert_int_equal(dg_config_write(&c, written), 0);
    assert_int_equal(dg_json_write(dg_json_get(written, "decoding"), 0, &b), 0);
    assert_string_equal(b.data, "{\"beam_size\":7,\"length_penalty\":1.25,\"extra_length\":50}");
    dg_buffer_deinit(&b);
    dg_json_free(written);
    dg_json_free(v);
}

/* Values that JSON cannot hold, but a struct can. */
static void check_refuses_what_a_struct_can_hold(void **state)
{
    (void)state;
    struct dg_config c;
    struct dg_error err = {0};
    dg_config_base(&c, 100);
    c.norm_eps = NAN;
    assert_int_equal(dg_config_check(&c, &err), DG_EINVAL);
    assert_string_equal(err.field, "model.norm_eps");
    dg_error_clear(&err);
    dg_config_base(&c, 100);
    c.embed_scale = INFINITY;
    assert_int_equal(dg_config_check(&c, &err), DG_EINVAL);
    dg_error_clear(&err);
    dg_config_base(&c, 100);
    c.act = DG_ACT_NONE;
    assert_int_equal(dg_config_check(&c, &err), DG_EINVAL);
    assert_string_equal(err.field, "model.activation");
    dg_error_clear(&err);
    dg_config_base(&c, 100);
    c.positions = (enum dg_positions)9;
    assert_int_equal(dg_config_check(&c, &err), DG_EINVAL);
    dg_error_clear(&err);
    dg_config_base(&c, 100);
    c.positions = DG_POS_MARIAN; /* i/(d/2 - 1) divides by zero */
    c.D = 2;
    assert_int_equal(dg_config_check(&c, &err), DG_EINVAL);
    assert_string_equal(err.field, "model.d_model");
}

/* Table 3 of the paper over a vocabulary of 37,000: our counts (summed elsewhere, tensor by tensor)
 * and the paper's in millions. The paper's are higher by up to 2.4 M x d_model/512, about 4,600
 * more rows of the embedding, and rounded. */
static const struct size {
    uint32_t N, D, F, H, Dk, Dv;
    uint64_t ours;
    double paper;
} sizes[] = {
    {6, 512, 2048, 8, 64, 64, 63045632, 65},
    {6, 512, 2048, 1, 512, 512, 63045632, 65},
    {6, 512, 2048, 8, 16, 64, 55967744, 58},
    {6, 512, 2048, 8, 32, 64, 58327040, 60},
    {2, 512, 2048, 8, 64, 64, 33644544, 36},
    {4, 512, 2048, 8, 64, 64, 48345088, 50},
    {8, 512, 2048, 8, 64, 64, 77746176, 80},
    {6, 256, 2048, 8, 32, 32, 26816512, 28},
    {6, 1024, 2048, 8, 128, 128, 163815424, 168},
    {6, 512, 1024, 8, 64, 64, 50450432, 53},
    {6, 512, 4096, 8, 64, 64, 88236032, 90},
    {6, 1024, 4096, 16, 64, 64, 214171648, 213},
};

static void parameters_of_table_3(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct dg_config c;
        dg_config_base(&c, 37000);
        c.enc_layers = c.dec_layers = sizes[i].N;
        c.D = sizes[i].D;
        c.F = sizes[i].F;
        c.H = sizes[i].H;
        c.Dk = sizes[i].Dk;
        c.Dv = sizes[i].Dv;
        assert_int_equal(dg_config_check(&c, NULL), 0);
        assert_true(dg_params_elements(&c) == sizes[i].ours);
        double gap = sizes[i].paper - (double)sizes[i].ours / 1e6;
        assert_true(fabs(gap) <= 2.4 * sizes[i].D / 512 + 0.5);
    }
}

/* A model with everything that the paper's lacks: counted by hand for 321 and 654 pieces, d 96, ff
 * 100, 3 heads of 7 and 5, 2 + 1 layers, 77 positions. */
static void parameters_with_biases_and_untied(void **state)
{
    (void)state;
    struct dg_config c = other();
    const uint64_t tables = 321 * 96 + 654 * 96 + 654 * 96 + 654 + 2 * 77 * 96;
    const uint64_t attention = 96 * (21 + 21 + 15) + (21 + 21 + 15) + 15 * 96 + 96;
    const uint64_t ffn = 96 * 100 + 100 + 100 * 96 + 96;
    const uint64_t encoder = attention + ffn + 4 * 96, decoder = 2 * attention + ffn + 6 * 96;
    assert_true(dg_params_elements(&c) == tables + 2 * encoder + decoder);
}

static void output_limits(void **state)
{
    (void)state;
    struct dg_config c = {.source_eos = true, .extra_length = 50};
    assert_int_equal(dg_config_output_limit(&c, 5, 0), 4 + 50);
    assert_int_equal(dg_config_output_limit(&c, 5, 7), 5 + 50 + 7);
    c.length_factor = 2.5f;
    assert_int_equal(dg_config_output_limit(&c, 5, 0), 12);
    assert_int_equal(dg_config_output_limit(&c, 5, 7), 12 + 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_is_the_papers),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(decoding_and_max_positions_are_optional),
        cmocka_unit_test(every_field_is_refused_by_name),
        cmocka_unit_test(former_names_are_read),
        cmocka_unit_test(check_refuses_what_a_struct_can_hold),
        cmocka_unit_test(parameters_of_table_3),
        cmocka_unit_test(parameters_with_biases_and_untied),
        cmocka_unit_test(output_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
