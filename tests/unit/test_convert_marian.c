/* Marian models to bundles: every tensor against NumPy's result for the same arrays
 * (tests/data/convert/make.py), vocabularies, broken models. */
#include "tests/unit/marian_model.h"
#include "base/buffer.h"
#include "base/file.h"
#include "convert/marian/marian.h"
#include "convert/npz.h"
#include "weights/bundle.h"
#include "weights/half.h"

#include <string.h>
#include <sys/stat.h>

#define FOLDER "tests/data/convert/marian/"
#define FIVE FOLDER "five.yml"
#define FOUR FOLDER "four.yml"

static struct dg_convert_marian options(
    const char *model, const char *source, const char *target, const char *out)
{
    return (struct dg_convert_marian){.model = model,
        .source_vocab = source,
        .target_vocab = target,
        .to = {.source_lang = "en", .target_lang = "de", .out = out},
        .positions = DG_POS_MARIAN};
}

static struct dg_bundle *converted(const struct dg_convert_marian *o, struct dg_config *c)
{
    struct dg_error err = {0};
    struct dg_bundle *b = NULL;
    if (dg_convert_marian(o, &err) != 0 || dg_bundle_open(o->to.out, &b, &err) != 0 ||
        dg_bundle_verify(b, &err) != 0 || dg_config_read(dg_bundle_manifest(b), c, &err) != 0)
        fail_msg("%s: %s", o->model, err.message);
    return b;
}

/* Checks that the bundle has exactly the expected tensors, with the same bits. */
static void check_tensors(const struct dg_bundle *b, const char *expected)
{
    struct dg_npz *z;
    assert_int_equal(dg_npz_open(dg_input_path(expected), &z, NULL), 0);
    const struct dg_weights *w = dg_bundle_weights(b);
    assert_int_equal(dg_weights_count(w), dg_npz_count(z));
    for (size_t i = 0; i < dg_npz_count(z); i++) {
        const struct dg_npy *a = dg_npz_at(z, i);
        const struct dg_tensor *t = dg_weights_find(w, a->name);
        float data[64];
        if (!t)
            fail_msg("%s is missing", a->name);
        assert_true(a->count <= sizeof data / sizeof data[0]);
        assert_int_equal(a->n_dims, 2);
        assert_int_equal(t->shape[0], a->shape[0]);
        assert_int_equal(t->shape[1], a->shape[1]);
        assert_int_equal(dg_npz_read(z, a, data, NULL), 0);
        assert_int_equal(t->stored[0].type, DG_F32);
        if (memcmp(t->stored[0].data, data, a->count * sizeof data[0]) != 0)
            fail_msg("%s has other values", a->name);
    }
    dg_npz_close(z);
}

static void shared_tables(void **state)
{
    struct dg_config c;
    struct dg_convert_marian o = options(FOLDER "shared.npz", FIVE, NULL, *state);
    o.to.licence = "CC-BY-4.0";
    struct dg_bundle *b = converted(&o, &c);
    check_tensors(b, FOLDER "shared.expected.npz");
    assert_int_equal(c.source_vocab, 5);
    assert_int_equal(c.D, 4);
    assert_int_equal(c.F, 6);
    assert_int_equal(c.H, 2);
    assert_int_equal(c.Dk, 2);
    assert_int_equal(c.enc_layers, 2);
    assert_int_equal(c.dec_layers, 1);
    assert_true(c.norm_eps == 1e-6f && c.embed_scale == 2);
    assert_int_equal(c.positions, DG_POS_MARIAN);
    assert_int_equal(c.act, DG_ACT_RELU);
    assert_true(
        c.attention_bias && c.output_bias && c.tied_embeddings && c.tied_output && c.source_eos);
    assert_int_equal(c.eos, 0);
    assert_int_equal(c.unk, 1);
    assert_int_equal(c.start, -1);
    assert_int_equal(c.beam, 4);
    assert_string_equal(dg_bundle_name(b), "en-de");
    assert_int_equal(dg_json_number(dg_json_get(dg_bundle_manifest(b), "alignment_layer")), 0);
    assert_int_equal(dg_json_number(dg_json_get(dg_bundle_manifest(b), "alignment_head")), 0);
    assert_string_equal(dg_bundle_source_spm(b), "");
    assert_string_equal(dg_bundle_source_vocab(b), dg_bundle_target_vocab(b));
    struct dg_buffer text;
    dg_buffer_init(&text);
    assert_int_equal(dg_file_read(dg_bundle_source_vocab(b), &text, NULL), 0);
    assert_string_equal(text.data, "</s>\n<unk>\n\xe2\x96\x81"
                                   "a\"\nit's\na key that is written the long way\n");
    dg_buffer_deinit(&text);
    dg_bundle_close(b);
}

static void nothing_shared(void **state)
{
    struct dg_config c;
    struct dg_convert_marian o = options(FOLDER "apart.npz", FOUR, FIVE, *state);
    struct dg_bundle *b = converted(&o, &c);
    check_tensors(b, FOLDER "apart.expected.npz");
    assert_int_equal(c.source_vocab, 4);
    assert_int_equal(c.target_vocab, 5);
    assert_int_equal(c.dec_layers, 2);
    assert_int_equal(c.positions, DG_POS_LEARNED);
    assert_int_equal(c.max_positions, 7);
    assert_true(c.embed_scale == 1); /* as in Marian's code for trained positions */
    assert_int_equal(c.act, DG_ACT_SWISH);
    assert_false(c.attention_bias || c.output_bias || c.tied_embeddings || c.tied_output);
    assert_int_equal(dg_json_number(dg_json_get(dg_bundle_manifest(b), "alignment_layer")), 1);
    assert_int_equal(dg_json_number(dg_json_get(dg_bundle_manifest(b), "alignment_head")),
        1); /* the one that Marian's guidance trains */
    struct dg_buffer text;
    dg_buffer_init(&text);
    assert_int_equal(dg_file_read(dg_bundle_source_vocab(b), &text, NULL), 0);
    assert_string_equal(text.data, "</s>\n<unk>\nyes\nb\n"); /* cut at dim-vocabs */
    dg_buffer_deinit(&text);
    dg_bundle_close(b);
}

static void half_tied(void **state)
{
    struct dg_config c;
    struct dg_convert_marian o = options(FOLDER "target_tied.npz", FOUR, FIVE, *state);
    struct dg_bundle *b = converted(&o, &c);
    check_tensors(b, FOLDER "target_tied.expected.npz");
    assert_true(!c.tied_embeddings && c.tied_output && c.output_bias);
    dg_bundle_close(b);
    o = options(FOLDER "source_tied.npz", FIVE, FIVE, *state);
    b = converted(&o, &c);
    check_tensors(b, FOLDER "source_tied.expected.npz");
    assert_true(c.tied_embeddings && !c.tied_output);
    dg_bundle_close(b);
}

/* A SentencePiece model as the vocabulary: its ids are used, and it is copied into the bundle. */
static void sentencepiece_vocabulary(void **state)
{
    struct dg_config c;
    struct dg_buffer model, copy, vocab;
    char path[512];
    snprintf(path, sizeof path, "%s/other.spm", (char *)*state);
    dg_buffer_init(&model);
    dg_buffer_init(&copy);
    dg_buffer_init(&vocab);
    assert_int_equal(dg_file_read("tests/data/tokenizer/joint.model", &model, NULL), 0);
    assert_int_equal(dg_file_write(path, model.data, model.len, NULL), 0);
    struct dg_convert_marian o = options(FOLDER "shared.npz", path, NULL, *state);
    struct dg_bundle *b = converted(&o, &c);
    assert_int_equal(dg_file_read(dg_bundle_source_vocab(b), &vocab, NULL), 0);
    assert_string_equal(vocab.data, "</s>\n<unk>\n<2de>\n<2fr>\n<sep>\n");
    assert_string_equal(dg_bundle_source_spm(b), dg_bundle_target_spm(b));
    assert_int_equal(dg_file_read(dg_bundle_source_spm(b), &copy, NULL), 0);
    assert_int_equal(copy.len, model.len);
    assert_memory_equal(copy.data, model.data, model.len);
    dg_bundle_close(b);
    assert_int_equal(dg_file_write(path, model.data, model.len / 2, NULL), 0);
    struct dg_error err = {0};
    assert_int_equal(dg_convert_marian(&o, &err), DG_EFORMAT);
    dg_buffer_deinit(&model);
    dg_buffer_deinit(&copy);
    dg_buffer_deinit(&vocab);
}

/* Texts that a manifest refuses are refused before an existing bundle is replaced. */
static void texts_of_the_manifest(void **state)
{
    static char long_name[257];
    static const struct {
        const char *name, *licence, *source, *target, *field;
    } wrong[] = {{"a\nb", NULL, "en", "de", "name"}, {"", NULL, "en", "de", "name"},
        {long_name, NULL, "en", "de", "name"}, {NULL, "", "en", "de", "licence"},
        {NULL, "two\tcolumns", "en", "de", "licence"}, {NULL, NULL, "en us", "de", "source_lang"},
        {NULL, NULL, "en", "de/at", "target_lang"}};
    struct dg_config c;
    struct dg_convert_marian o = options(FOLDER "shared.npz", FIVE, NULL, *state);
    dg_bundle_close(converted(&o, &c));
    memset(long_name, 'x', sizeof long_name - 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct dg_error err = {0};
        struct dg_bundle *b = NULL;
        o.to.name = wrong[i].name;
        o.to.licence = wrong[i].licence;
        o.to.source_lang = wrong[i].source;
        o.to.target_lang = wrong[i].target;
        assert_int_equal(dg_convert_marian(&o, &err), DG_EINVAL);
        assert_string_equal(err.field, wrong[i].field);
        assert_int_equal(dg_bundle_open(o.to.out, &b, &err), 0);
        assert_int_equal(dg_bundle_verify(b, &err), 0);
        dg_bundle_close(b);
    }
}

/* --positions halves: reads Marian files as CTranslate2 does, with its epsilon. */
static void halves_convention(void **state)
{
    struct dg_config c;
    struct dg_convert_marian o = options(FOLDER "shared.npz", FIVE, NULL, *state);
    o.positions = DG_POS_HALVES;
    dg_bundle_close(converted(&o, &c));
    assert_int_equal(c.positions, DG_POS_HALVES);
    assert_true(c.norm_eps == 1e-5f);
    o.norm_eps = 1e-3;
    dg_bundle_close(converted(&o, &c));
    assert_true(c.norm_eps == 1e-3f);
    o = options(FOLDER "apart.npz", FOUR, FIVE, *state);
    o.positions = DG_POS_HALVES;
    dg_bundle_close(converted(&o, &c));
    assert_true(c.positions == DG_POS_LEARNED && c.embed_scale == 2);
}

static void half_precision_storage(void **state)
{
    struct dg_config c;
    struct dg_npz *z;
    struct dg_convert_marian o = options(FOLDER "shared.npz", FIVE, NULL, *state);
    assert_int_equal(dg_npz_open(dg_input_path(FOLDER "shared.expected.npz"), &z, NULL), 0);
    for (int i = 0; i < 2; i++) {
        o.to.type = i ? DG_BF16 : DG_F16;
        struct dg_bundle *b = converted(&o, &c);
        const struct dg_tensor *t = dg_weights_find(dg_bundle_weights(b), "enc.1.ffn.w1");
        const struct dg_npy *a = dg_npz_find(z, "enc.1.ffn.w1");
        float data[64];
        assert_int_equal(t->stored[0].type, o.to.type);
        assert_int_equal(dg_npz_read(z, a, data, NULL), 0);
        for (size_t k = 0; k < a->count; k++)
            assert_int_equal(((const uint16_t *)t->stored[0].data)[k],
                i ? dg_bf16_from_f32(data[k]) : dg_f16_from_f32(data[k]));
        t = dg_weights_find(dg_bundle_weights(b), "enc.1.ffn.b1");
        assert_int_equal(t->stored[0].type, DG_F32);
        dg_bundle_close(b);
    }
    dg_npz_close(z);
}

static void expect_failure(
    const struct dg_convert_marian *o, int code, const char *field, const char *message)
{
    struct dg_error err = {0};
    char path[512];
    int rc = dg_convert_marian(o, &err);
    if (rc != code || strcmp(err.field, field) != 0 || !strstr(err.message, message))
        fail_msg("%s: %d, field \"%s\", \"%s\"; expected %d, \"%s\", \"%s\"", o->model, rc,
            err.field, err.message, code, field, message);
    snprintf(path, sizeof path, "%s/manifest.json", o->to.out);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void broken_models_are_refused(void **state)
{
    struct dg_convert_marian o = options(FOLDER "missing.npz", FIVE, NULL, *state);
    expect_failure(&o, DG_EFORMAT, "encoder_l2_ffn_W2", "is missing");
    o.model = FOLDER "unknown.npz";
    expect_failure(&o, DG_EUNSUP, "encoder_l1_self_Wi", "belongs to no part");
    o.model = FOLDER "misshapen.npz";
    expect_failure(&o, DG_EFORMAT, "dec.0.cross.kv.w", "7 rows for dec.0.cross.kv.w, which has 8");
    o.model = FOLDER "shared.expected.npz";
    expect_failure(&o, DG_EFORMAT, "special:model.yml", "no Marian model");
    o.model = "tests/data/convert/npz/no_zip.npz";
    expect_failure(&o, DG_EFORMAT, "npz", "no zip archive");
    o = options(FOLDER "shared.npz", FIVE, NULL, *state);
    o.positions = DG_POS_PAPER;
    expect_failure(&o, DG_EINVAL, "positions", "marian or halves");
    o.positions = DG_POS_MARIAN;
    o.to.type = DG_S8;
    expect_failure(&o, DG_EINVAL, "type", "f32, f16 or bf16");
    o.to.type = DG_F32;
    o.to.source_lang = "e n";
    expect_failure(&o, DG_EINVAL, "source_lang", "language tag");
    o.to.source_lang = NULL;
    expect_failure(&o, DG_EINVAL, "source_lang", "is missing");
    o.to.source_lang = "en";
    o.source_spm = FIVE;
    o.target_spm = NULL;
    expect_failure(&o, DG_EINVAL, "spm", "only the source side");
    o.source_spm = o.target_spm = FOLDER "nowhere.spm";
    expect_failure(&o, DG_ENOTFOUND, "", "nowhere.spm");
    o.source_spm = o.target_spm = FIVE;
    expect_failure(&o, DG_EFORMAT, "", "five.yml");
}

static void expect_whole(const char *dir)
{
    struct dg_bundle *b;
    assert_int_equal(dg_bundle_open(dir, &b, NULL), 0);
    assert_int_equal(dg_bundle_verify(b, NULL), 0);
    dg_bundle_close(b);
}

/* A conversion that fails leaves the old bundle whole, or no manifest that would make a
 * half-replaced one look so. */
static void failure_removes_the_old_manifest_only_late(void **state)
{
    struct dg_config c;
    char path[512];
    struct dg_convert_marian o = options(FOLDER "shared.npz", FIVE, NULL, *state);
    dg_bundle_close(converted(&o, &c));
    o.source_spm = o.target_spm =
        "nowhere.spm"; /* noticed before anything is written: the old bundle stays whole */
    struct dg_error err = {0};
    assert_int_equal(dg_convert_marian(&o, &err), DG_ENOTFOUND);
    expect_whole(*state);
    dg_error_clear(&err);
    o = options(FOLDER "missing.npz", FIVE, NULL, *state); /* noticed before the weights are */
    assert_int_equal(dg_convert_marian(&o, &err), DG_EFORMAT);
    assert_string_equal(err.field, "encoder_l2_ffn_W2");
    expect_whole(*state);
    snprintf(path, sizeof path, "%s/joint.vocab", o.to.out);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    o = options(FOLDER "shared.npz", FIVE, NULL, *state);
    expect_failure(&o, DG_EIO, "", "joint.vocab");
    rmdir(path);
}

static const struct vocab {
    const char *text, *message;
} vocabs[] = {
    {"</s>: 0\n<unk>: 1\na: 2\nb: 3\n", "id 4 has no piece"},
    {"</s>: 0\n<unk>: 1\na: 2\nb: 3\nc: 3\n", "id 3 is both \"b\" and \"c\""},
    {"</s>: 0\n<unk>: 1\na: 2\nb: 3\na: 4\n", "piece \"a\" is there twice"},
    {"</s>: 0\n<unk>: 1\na: 2\nb: 3\n\"\": 4\n", "id 4 is empty"},
    {"</s>: 0\n<unk>: 1\na: 2\nb: 3\n\"x\\ny\": 4\n", "holds a line end"},
    {"</s>: 0\n<unk>: 1\na: 2\nb: 3\nc: -4\n", "piece \"c\" has \"-4\" for an id"},
    {"</s>: 0\n<unk>: 1\na: 2\nb: 3\nc: four\n", "piece \"c\" has \"four\" for an id"},
    {"</s>: 0\n<unk>: 1\na: 2\nb: 3\nc: [4]\n", "piece \"c\" has \"\" for an id"},
    {"</s>: 0\n<unk>: 1\na: 2\nb: 3\nc: {d: 4}\n", "line 5: expected a scalar or a list"},
    {"- a\n- b\n", "line 1: expected a mapping"},
    {"&a </s>: 0\n*a : 1\n", "line 2: expected a scalar as a key"},
    {"a: 0\n---\nb: 1\n", "a second document"},
    {"\"a: 0\n", "line "},
    {"<s>: 0\n<unk>: 1\na: 2\nb: 3\nc: 4\n", "</s> has id -1"},
    {"", "no document"},
};

static void wrong_vocabularies_are_refused(void **state)
{
    char path[512];
    snprintf(path, sizeof path, "%s/other.yml", (char *)*state);
    struct dg_convert_marian o = options(FOLDER "shared.npz", path, NULL, *state);
    for (size_t i = 0; i < sizeof vocabs / sizeof vocabs[0]; i++) {
        struct dg_error err = {0};
        assert_int_equal(dg_file_write(path, vocabs[i].text, strlen(vocabs[i].text), NULL), 0);
        assert_int_equal(dg_convert_marian(&o, &err), DG_EFORMAT);
        if (!strstr(err.message, vocabs[i].message))
            fail_msg("\"%s\", expected \"%s\"", err.message, vocabs[i].message);
    }
    o.source_vocab = "vocab.txt";
    expect_failure(&o, DG_EUNSUP, "vocab", ".yml, .yaml or .spm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(shared_tables),
        TEST(nothing_shared),
        TEST(half_tied),
        TEST(sentencepiece_vocabulary),
        TEST(texts_of_the_manifest),
        TEST(halves_convention),
        TEST(half_precision_storage),
        TEST(broken_models_are_refused),
        TEST(failure_removes_the_old_manifest_only_late),
        TEST(wrong_vocabularies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
