/* A Marian model's options: refused by name and value, or harmless; none that matters is
 * guessed. */
#include "tests/unit/marian_model.h"
#include "convert/marian/options.h"

#include <string.h>

static const char yml_base[] =
    "type: transformer\ndim-emb: 64\ndim-vocabs: [100, 100]\nenc-depth: 6\ndec-depth: "
    "2\ntransformer-heads: 8\n"
    "transformer-dim-ffn: 256\ntransformer-ffn-activation: relu\ntransformer-preprocess: ''\n"
    "transformer-postprocess: dan\ntied-embeddings-all: true\n";

static int read_options(const char *text, struct dg_config *c, struct dg_error *err)
{
    struct dg_marian_options o;
    struct dg_yaml *yml;
    assert_int_equal(dg_yaml_parse(text, strlen(text), "options", &yml, NULL), 0);
    dg_config_base(c, 2);
    int rc = dg_marian_options_read(yml, DG_POS_MARIAN, c, &o, err);
    dg_yaml_free(yml);
    return rc;
}

/* A line added (or replacing the base's line with that key) is refused by name, with its value in
 * the message. */
static const struct line {
    const char *line, *name, *value;
    int code;
} lines[] = {
    {"type: s2s", "type", "s2s", DG_EUNSUP},
    {"type: multi-transformer", "type", "multi-transformer", DG_EUNSUP},
    {"transformer-preprocess: n", "transformer-preprocess", "\"n\"", DG_EUNSUP},
    {"transformer-postprocess: da", "transformer-postprocess", "\"da\"", DG_EUNSUP},
    {"transformer-postprocess: []", "transformer-postprocess", "\"[]\"", DG_EUNSUP},
    {"transformer-postprocess: [an, d]", "transformer-postprocess", "\"[an, d]\"", DG_EUNSUP},
    {"transformer-postprocess-emb: nd", "transformer-postprocess-emb", "\"nd\"", DG_EUNSUP},
    {"transformer-postprocess-top: n", "transformer-postprocess-top", "\"n\"", DG_EUNSUP},
    {"transformer-ffn-activation: gelu", "transformer-ffn-activation", "gelu", DG_EUNSUP},
    {"transformer-ffn-depth: 3", "transformer-ffn-depth", "3", DG_EUNSUP},
    {"transformer-decoder-ffn-depth: 1", "transformer-decoder-ffn-depth", "1", DG_EUNSUP},
    {"transformer-decoder-autoreg: rnn", "dec-cell", "rnn", DG_EUNSUP},
    {"transformer-attention-mask: causal", "transformer-attention-mask", "causal", DG_EUNSUP},
    {"transformer-disable-position-embeddings: true", "transformer-disable-position-embeddings",
        "true", DG_EUNSUP},
    {"transformer-decoder-autoreg: average-attention", "transformer-decoder-autoreg",
        "average-attention", DG_EUNSUP},
    {"transformer-no-projection: true", "transformer-no-projection", "true", DG_EUNSUP},
    {"transformer-no-affine: true", "transformer-no-affine", "true", DG_EUNSUP},
    {"transformer-rnn-projection: true", "transformer-rnn-projection", "true", DG_EUNSUP},
    {"transformer-tied-layers: [1, 1]", "transformer-tied-layers", "[1, 1]", DG_EUNSUP},
    {"transformer-pool: true", "transformer-pool", "true", DG_EUNSUP},
    {"output-approx-knn: [100, 1024]", "output-approx-knn", "[100, 1024]", DG_EUNSUP},
    {"lemma-dim-emb: 64", "lemma-dim-emb", "64", DG_EUNSUP},
    {"factors-combine: concat", "factors-combine", "concat", DG_EUNSUP},
    {"right-left: true", "right-left", "true", DG_EUNSUP},
    {"layer-normalization: true", "layer-normalization", "true", DG_EUNSUP},
    {"skip: true", "skip", "true", DG_EUNSUP},
    {"ulr: true", "ulr", "true", DG_EUNSUP},
    {"input-types: [sequence, sequence, sequence]", "input-types", "[sequence, sequence, sequence]",
        DG_EUNSUP},
    {"transformer-new-thing: on", "transformer-new-thing", "on", DG_EUNSUP},
    {"tied-embeddings: maybe", "tied-embeddings", "maybe", DG_EUNSUP},
    {"dim-emb: 60", "transformer-heads", "8 does not divide dim-emb 60", DG_EFORMAT},
    {"dim-emb: many", "dim-emb", "many", DG_EFORMAT},
    {"dim-emb: -64", "dim-emb", "-64", DG_EFORMAT},
    {"dim-emb: 99999999999", "dim-emb", "99999999999", DG_EFORMAT},
    {"dim-vocabs: [100]", "dim-vocabs", "two sizes", DG_EFORMAT},
    {"dim-vocabs: [100, 100, 100]", "dim-vocabs", "two sizes", DG_EFORMAT},
    {"transformer-heads: 0", "transformer-heads", "0 does not divide", DG_EFORMAT},
    {"transformer-guided-alignment-layer: first", "transformer-guided-alignment-layer", "first",
        DG_EFORMAT},
    {"transformer-guided-alignment-layer: 3", "transformer-guided-alignment-layer",
        "3 is not a decoder layer, expected 1 to 2", DG_EFORMAT},
    {"transformer-guided-alignment-layer: 0", "transformer-guided-alignment-layer",
        "0 is not a decoder layer", DG_EFORMAT},
};

/* Writes yml_base with the line added, or replacing the line of the same key. */
static void with_line(const char *line, char *out, size_t cap)
{
    size_t key = strcspn(line, ":") + 1, at = 0;
    bool there = false;
    for (const char *p = yml_base; *p; p += strcspn(p, "\n") + 1) {
        bool same = strncmp(p, line, key) == 0;
        at += (size_t)snprintf(out + at, cap - at, "%.*s\n",
            same ? (int)strlen(line) : (int)strcspn(p, "\n"), same ? line : p);
        there = there || same;
    }
    if (!there)
        snprintf(out + at, cap - at, "%s\n", line);
}

static void unsupported_options_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[2048];
        struct dg_config c;
        struct dg_error err = {0};
        with_line(lines[i].line, text, sizeof text);
        int rc = read_options(text, &c, &err);
        if (rc != lines[i].code || strcmp(err.field, lines[i].name) != 0 ||
            !strstr(err.message, lines[i].value))
            fail_msg("%s: %d, field \"%s\", \"%s\"", lines[i].line, rc, err.field, err.message);
    }
}

static void harmless_options_pass(void **state)
{
    (void)state;
    static const char *const harmless[] = {"transformer-depth-scaling: true",
        "transformer-dim-aan: 2048", "transformer-aan-activation: swish",
        "bert-train-type-embeddings: true", "enc-cell: gru", "dim-rnn: 1024",
        "input-types: [sequence, sequence]", "transformer-postprocess: an",
        "transformer-decoder-dim-ffn: 256", "something-new: false", "something-new: []",
        "transformer-tied-layers: []"};
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
        char text[2048];
        struct dg_config c;
        struct dg_error err = {0};
        with_line(harmless[i], text, sizeof text);
        if (read_options(text, &c, &err) != 0)
            fail_msg("%s: %s", harmless[i], err.message);
        assert_int_equal(c.enc_layers, 6);
        assert_int_equal(c.dec_layers, 2);
    }
}

/* Options that a model's meaning depends on are never guessed. */
static void missing_options_are_refused(void **state)
{
    (void)state;
    static const char *const needed[] = {"type", "dim-emb", "dim-vocabs", "enc-depth", "dec-depth",
        "transformer-heads", "transformer-dim-ffn", "transformer-ffn-activation",
        "transformer-preprocess", "transformer-postprocess"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        char text[2048], key[64];
        struct dg_config c;
        struct dg_error err = {0};
        strcpy(text, yml_base);
        snprintf(key, sizeof key, "%s:", needed[i]);
        char *at = strstr(text, key), *next = strchr(at, '\n') + 1;
        memmove(at, next, strlen(next) + 1);
        assert_int_equal(read_options(text, &c, &err), DG_EFORMAT);
        assert_string_equal(err.field, needed[i]);
    }
    struct dg_config c;
    struct dg_error err = {0};
    char text[2048];
    snprintf(text, sizeof text, "%sdim-emb: 64\n", yml_base);
    assert_int_equal(read_options(text, &c, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "dim-emb is there twice"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsupported_options_are_refused),
        cmocka_unit_test(harmless_options_pass),
        cmocka_unit_test(missing_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
