/* Bundles: sealing, opening, the version against one computed elsewhere, manifests that are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/file.h"
#include "weights/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Printed by tests/data/convert/bundle_version.py. */
#define VERSION "9304f1a06ebe1280e8b512d902cc72fe20ccd132ab923a9f5ded690a932e1b7c"

static const char manifest_text[] =
    "{\"name\":\"tiny\",\"format\":1,\"pairs\":[[\"en\",\"de\"],[\"en\",\"pt-BR\"]],"
    "\"tags\":{\"pt-BR\":\"<2pt>\",\"de\":\"<2de>\"},"
    "\"files\":{\"weights\":\"w.dgw\",\"source_spm\":\"s.spm\",\"source_vocab\":\"s.vocab\","
    "\"target_vocab\":\"t.vocab\"},"
    "\"model\":{\"zeta\":1,\"alpha\":[0.6,true,null,{\"b\":1,\"a\":\"\xc3\xbc\"}]},\"alignment_"
    "layer\":2}";

static const char *const file_names[] = {"manifest.json", "w.dgw", "s.spm", "s.vocab", "t.vocab"};

struct place {
    char dir[128];
    char path[300];
};

static const char *in(struct place *p, const char *name)
{
    snprintf(p->path, sizeof p->path, "%s/%s", p->dir, name);
    return p->path;
}

static void write_weights(const char *path)
{
    static const float w[6] = {1, -2, 0.5f, 3, 0.25f, -1}, b[3] = {0.1f, 1, 65504};
    static const int8_t s8[6] = {64, -128, 32, 96, 8, -32};
    static const float scales[2] = {1.0f / 64, 1.0f / 32};
    struct dg_stored form = {DG_S8, DG_LAYOUT_ROWS, s8, scales};
    struct dg_weights_writer *writer;
    assert_int_equal(dg_weights_writer_open(&writer, NULL), 0);
    assert_int_equal(dg_weights_writer_add(writer, "w", 2, 3, DG_F32, w, NULL), 0);
    assert_int_equal(dg_weights_writer_add_form(writer, "w", &form, 6, NULL), 0);
    assert_int_equal(dg_weights_writer_add(writer, "b", 1, 3, DG_F16, b, NULL), 0);
    assert_int_equal(dg_weights_writer_commit(writer, path, NULL), 0);
    dg_weights_writer_close(writer);
}

/* Makes a directory with the bundle's files, not sealed yet. */
static int set_up(void **state)
{
    static const char source[] = "</s>\n<unk>\n", target[] = "</s>\n<unk>\n<2de>\n<2pt>\n";
    struct place *p = calloc(1, sizeof *p);
    const char *tmp = getenv("TMPDIR");
    snprintf(p->dir, sizeof p->dir, "%s/dg_bundle_XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(p->dir));
    write_weights(in(p, "w.dgw"));
    assert_int_equal(dg_file_write(in(p, "s.spm"), "spm\0bytes", 9, NULL), 0);
    assert_int_equal(dg_file_write(in(p, "s.vocab"), source, sizeof source - 1, NULL), 0);
    assert_int_equal(dg_file_write(in(p, "t.vocab"), target, sizeof target - 1, NULL), 0);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    for (size_t i = 0; i < sizeof file_names / sizeof file_names[0]; i++)
        unlink(in(p, file_names[i]));
    rmdir(p->dir);
    free(p);
    return 0;
}

static void seal(struct place *p)
{
    struct dg_error err = {0};
    struct dg_json *m = dg_json_parse(manifest_text, strlen(manifest_text), &err);
    if (!m || dg_bundle_seal(p->dir, m, &err) != 0)
        fail_msg("seal: %s", err.message);
    assert_string_equal(dg_json_string(dg_json_get(m, "version"), NULL), VERSION);
    dg_json_free(m);
}

static void sealed_bundle_opens(void **state)
{
    struct place *p = *state;
    struct dg_bundle *b;
    struct dg_error err = {0};
    const char *source, *target;
    seal(p);
    assert_int_equal(dg_bundle_open(p->dir, &b, &err), 0);
    assert_int_equal(dg_bundle_verify(b, &err), 0);
    assert_string_equal(dg_bundle_dir(b), p->dir);
    assert_string_equal(dg_bundle_name(b), "tiny");
    assert_string_equal(dg_bundle_version(b), VERSION);
    assert_int_equal(dg_bundle_pairs(b), 2);
    dg_bundle_pair(b, 1, &source, &target);
    assert_string_equal(source, "en");
    assert_string_equal(target, "pt-BR");
    assert_string_equal(dg_bundle_tag(b, "de"), "<2de>");
    assert_null(dg_bundle_tag(b, "fr"));
    assert_int_equal(dg_json_number(dg_json_get(dg_bundle_manifest(b), "alignment_layer")), 2);
    assert_int_equal(dg_json_number(dg_json_get(dg_bundle_manifest(b), "alignment_head")), 0);
    assert_string_equal(dg_bundle_source_spm(b), in(p, "s.spm"));
    assert_string_equal(dg_bundle_target_spm(b), "");
    assert_string_equal(dg_bundle_source_vocab(b), in(p, "s.vocab"));
    assert_string_equal(dg_bundle_target_vocab(b), in(p, "t.vocab"));
    assert_int_equal(dg_weights_count(dg_bundle_weights(b)), 2);
    assert_int_equal(
        dg_json_int(dg_json_get(dg_json_get(dg_bundle_manifest(b), "model"), "zeta")), 1);
    dg_bundle_close(b);
    dg_bundle_close(NULL);
}

static void sealing_again_gives_the_same_version(void **state)
{
    struct place *p = *state;
    struct dg_error err = {0};
    seal(p);
    struct dg_json *m = dg_json_load(in(p, "manifest.json"), &err);
    assert_non_null(m);
    assert_int_equal(dg_bundle_seal(p->dir, m, &err), 0);
    assert_string_equal(dg_json_string(dg_json_get(m, "version"), NULL), VERSION);
    dg_json_free(m);
}

/* One byte of each file changed: the bundle may still open, but verify finds it. */
static void verify_finds_a_change_in_each_file(void **state)
{
    struct place *p = *state;
    seal(p);
    for (size_t i = 0; i < sizeof file_names / sizeof file_names[0]; i++) {
        struct dg_bundle *b = NULL;
        struct dg_error err = {0};
        struct dg_buffer bytes;
        dg_buffer_init(&bytes);
        assert_int_equal(dg_file_read(in(p, file_names[i]), &bytes, NULL), 0);
        char *at = i == 0 ? strstr(bytes.data, "tiny") : bytes.data + bytes.len - 2;
        if (i == 1)
            at = bytes.data + 384; /* data of tensor w */
        *at ^= 1;
        assert_int_equal(dg_file_write(in(p, file_names[i]), bytes.data, bytes.len, NULL), 0);
        assert_int_equal(dg_bundle_open(p->dir, &b, &err), 0);
        assert_int_equal(dg_bundle_verify(b, &err), DG_EFORMAT);
        assert_string_equal(err.field, i == 1 ? "data_checksum" : "version");
        dg_bundle_close(b);
        *at ^= 1;
        assert_int_equal(dg_file_write(in(p, file_names[i]), bytes.data, bytes.len, NULL), 0);
        dg_buffer_deinit(&bytes);
    }
}

static void missing_file_is_named(void **state)
{
    struct place *p = *state;
    struct dg_bundle *b = NULL;
    struct dg_error err = {0};
    assert_int_equal(dg_bundle_open(p->dir, &b, &err), DG_ENOTFOUND);
    assert_non_null(strstr(err.message, "is not a bundle: it has no manifest.json"));
    seal(p);
    dg_error_clear(&err);
    assert_int_equal(dg_bundle_open(in(p, "w.dgw"), &b, &err), DG_ENOTFOUND);
    assert_non_null(strstr(err.message, "w.dgw is not a bundle: it is a file"));
    unlink(in(p, "s.spm"));
    dg_error_clear(&err);
    assert_int_equal(dg_bundle_open(p->dir, &b, &err), DG_EIO);
    assert_string_equal(err.field, "files.source_spm");
    assert_int_not_equal(dg_bundle_open("/nonexistent/dir", &b, NULL), 0);
    dg_error_clear(&err);
    assert_int_equal(dg_bundle_open("/nonexistent/dir", &b, &err), DG_ENOTFOUND);
    assert_string_equal(err.message, "cannot open /nonexistent/dir: No such file or directory");
    assert_null(b);
}

/* With `old` in the manifest's text replaced by `new`, seal and open both refuse `field`. */
struct wrong {
    const char *old, *new, *field;
};

#define FILES "\"files\":{\"weights\":\"w.dgw\""

static const struct wrong wrongs[] = {
    {"\"format\":1", "\"format\":2", "format"},
    {"\"format\":1", "\"format\":\"1\"", "format"},
    {"\"format\":1,", "", "format"},
    {"\"name\":\"tiny\",", "", "name"},
    {"\"tiny\"", "\"\"", "name"},
    {"\"tiny\"", "7", "name"},
    {"\"tiny\"", "\"a\\nb\"", "name"},
    {"\"format\":1", "\"format\":1,\"colour\":1", "colour"},
    {"\"format\":1", "\"format\":1,\"version\":\"12\"", "version"},
    {"\"format\":1", "\"format\":1,\"version\":null", "version"},
    {"\"format\":1", "\"format\":1,\"licence\":1", "licence"},
    {"\"format\":1", "\"format\":1,\"description\":[]", "description"},
    {"\"format\":1", "\"format\":1,\"training\":[]", "training"},
    {"\"format\":1", "\"format\":1,\"decoding\":3", "decoding"},
    {"[[\"en\",\"de\"],[\"en\",\"pt-BR\"]]", "[]", "pairs"},
    {"[[\"en\",\"de\"],[\"en\",\"pt-BR\"]]", "{}", "pairs"},
    {"[\"en\",\"pt-BR\"]", "[\"en\"]", "pairs[1]"},
    {"[\"en\",\"pt-BR\"]", "[\"en\",\"pt BR\"]", "pairs[1]"},
    {"[\"en\",\"pt-BR\"]", "[\"en\",4]", "pairs[1]"},
    {"[\"en\",\"pt-BR\"]", "[\"\",\"de\"]", "pairs[1]"},
    {"\"de\":\"<2de>\"", "\"de\":4", "tags.de"},
    {"\"de\":\"<2de>\"", "\"de\":\"\"", "tags"},
    {"\"de\":\"<2de>\"", "\"d e\":\"<2de>\"", "tags"},
    {"\"de\":\"<2de>\"", "\"DE\":\"<2de>\"", "tags"},
    {"\"de\":\"<2de>\"", "\"de\":\"<2de>\",\"fr\":\"<2fr>\"", "tags"},
    {",\"de\":\"<2de>\"", "", "tags"},
    {"[\"en\",\"de\"]", "[\"en\",\"De\"]", "tags"},
    {FILES ",", "\"files\":{", "files.weights"},
    {FILES, "\"files\":{\"weights\":\"../w.dgw\"", "files.weights"},
    {FILES, "\"files\":{\"weights\":\"/etc/passwd\"", "files.weights"},
    {FILES, "\"files\":{\"weights\":\"..\"", "files.weights"},
    {FILES, "\"files\":{\"weights\":\"\"", "files.weights"},
    {FILES, "\"files\":{\"weights\":\"manifest.json\"", "files.weights"},
    {FILES, "\"files\":{\"weights\":\"w\\u0000.dgw\"", "files.weights"},
    {FILES, "\"files\":{\"tokens\":\"w.dgw\"", "files.tokens"},
    {"\"s.spm\"", "\"a/b\"", "files.source_spm"},
    {",\"target_vocab\":\"t.vocab\"", "", "files.target_vocab"},
    {"\"model\":{", "\"model\":3,\"training\":{", "model"},
    {"\"alignment_layer\":2", "\"alignment_layer\":0", "alignment_layer"},
    {"\"alignment_layer\":2", "\"alignment_head\":0", "alignment_head"},
    {"\"alignment_layer\":2", "\"alignment_head\":\"all\"", "alignment_head"},
    {"\"alignment_layer\":2", "\"capitals\":\"loud\"", "capitals"},
};

static char *replaced(const struct wrong *w)
{
    char *text = NULL;
    const char *at = strstr(manifest_text, w->old);
    assert_non_null(at);
    assert_true(asprintf(&text, "%.*s%s%s", (int)(at - manifest_text), manifest_text, w->new,
                    at + strlen(w->old)) > 0);
    return text;
}

static void manifest_fields_are_checked(void **state)
{
    struct place *p = *state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct dg_error sealed = {0}, opened = {0};
        struct dg_bundle *b = NULL;
        char *text = replaced(&wrongs[i]);
        struct dg_json *m = dg_json_parse(text, strlen(text), NULL);
        assert_non_null(m);
        assert_int_equal(dg_bundle_seal(p->dir, m, &sealed), DG_EINVAL);
        assert_int_not_equal(access(in(p, "manifest.json"), F_OK), 0);
        assert_int_equal(dg_file_write(in(p, "manifest.json"), text, strlen(text), NULL), 0);
        assert_int_equal(dg_bundle_open(p->dir, &b, &opened), DG_EINVAL);
        if (strcmp(sealed.field, wrongs[i].field) != 0 ||
            strcmp(opened.field, wrongs[i].field) != 0)
            fail_msg("%s: field \"%s\" (%s), expected \"%s\"", wrongs[i].new, opened.field,
                opened.message, wrongs[i].field);
        unlink(in(p, "manifest.json"));
        dg_json_free(m);
        free(text);
    }
}

static void unsealed_manifest_is_refused(void **state)
{
    struct place *p = *state;
    struct dg_bundle *b = NULL;
    struct dg_error err = {0};
    assert_int_equal(
        dg_file_write(in(p, "manifest.json"), manifest_text, strlen(manifest_text), NULL), 0);
    assert_int_equal(dg_bundle_open(p->dir, &b, &err), DG_EINVAL);
    assert_string_equal(err.field, "version");
    dg_error_clear(&err);
    assert_int_equal(dg_file_write(in(p, "manifest.json"), "{\"format\":1,", 12, NULL), 0);
    assert_int_not_equal(dg_bundle_open(p->dir, &b, &err), 0);
    dg_error_clear(&err);
    assert_int_equal(dg_file_write(in(p, "manifest.json"), "[]", 2, NULL), 0);
    assert_int_equal(dg_bundle_open(p->dir, &b, &err), DG_EINVAL);
    assert_string_equal(err.field, "manifest");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sealed_bundle_opens),
        TEST(sealing_again_gives_the_same_version),
        TEST(verify_finds_a_change_in_each_file),
        TEST(missing_file_is_named),
        TEST(manifest_fields_are_checked),
        TEST(unsealed_manifest_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
