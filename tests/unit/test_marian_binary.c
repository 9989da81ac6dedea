/* Marian's binary files: worked examples of its formats (bytes on which Marian's own writer and
 * reader agree), truncated and changed ones, types refused by name; the lexical shortlist converted
 * to ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/file.h"
#include "convert/marian/binary.h"
#include "convert/marian/lexicon.h"
#include "weights/shortlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "tests/fuzz/corpus/marian_binary/"

static void load(const char *name, struct dg_buffer *b)
{
    dg_buffer_init(b);
    assert_int_equal(dg_file_read(name, b, NULL), 0);
}

/* W = [[1, -2, 0.5], [0.25, 3, -1]] times 42.333332, outputs outermost. */
static void worked_file(void **state)
{
    (void)state;
    static const int8_t elements[] = {42, 11, -85, 127, 21, -42};
    struct dg_buffer b;
    struct dg_marian_binary *m;
    load(FOLDER "worked.bin", &b);
    assert_int_equal(b.len, 276);
    assert_int_equal(dg_marian_binary_open(dg_input_memory(b.data, b.len), &m, NULL), 0);
    assert_int_equal(dg_marian_binary_count(m), 3);
    const struct dg_marian_array *w = dg_marian_binary_at(m, 0), *a = dg_marian_binary_at(m, 1),
                                 *text = dg_marian_binary_at(m, 2);
    float scale;
    assert_string_equal(w->name, "l_W");
    assert_int_equal(w->type, DG_MARIAN_S8);
    assert_true(w->n_dims == 2 && w->shape[0] == 2 && w->shape[1] == 3 && w->count == 6);
    assert_memory_equal(w->data, elements, sizeof elements);
    assert_true(w->multiplier == 127.0f / 3);
    assert_string_equal(a->name, "l_W_QuantMultA");
    memcpy(&scale, a->data, sizeof scale);
    assert_true(a->type == DG_MARIAN_F32 && scale == 20);
    assert_string_equal(text->name, "special:model.yml");
    assert_memory_equal(text->data, "a: b\n", 6);
    assert_null(dg_marian_binary_at(m, 3));
    dg_marian_binary_close(m);
    dg_buffer_deinit(&b);
}

static void cut_files_are_refused(void **state)
{
    (void)state;
    struct dg_buffer b;
    struct dg_marian_lexicon l;
    load(FOLDER "worked.bin", &b);
    for (size_t n = 0; n < b.len; n++) {
        struct dg_marian_binary *m;
        struct dg_error err = {0};
        char *copy = malloc(n ? n : 1); /* a block of exact size: a read beyond it is found */
        memcpy(copy, b.data, n);
        assert_int_equal(dg_marian_binary_open(dg_input_memory(copy, n), &m, &err), DG_EFORMAT);
        assert_true(err.message[0] != '\0');
        free(copy);
    }
    dg_buffer_deinit(&b);
    load(FOLDER "lexicon.bin", &b);
    for (size_t n = 0; n < b.len; n++)
        assert_int_equal(dg_marian_lexicon_read(b.data, n, &l, NULL), DG_EFORMAT);
    dg_buffer_deinit(&b);
}

/* One wrong byte. */
static const struct change {
    size_t at;
    unsigned char value;
    int code;
    const char *message;
} changes[] = {
    {0, 2, DG_EFORMAT, "encrypted"},
    {0, 3, DG_EFORMAT, "version 1"},
    {8, 4, DG_EFORMAT, ""},
    {15, 0x80, DG_EFORMAT, "items"},
    {0x18, 0x02, DG_EUNSUP, "0x4102 (intgemm16)"},
    {0x19, 0x10, DG_EUNSUP, "0x1001 (unknown)"},
    {0x1a, 1, DG_EUNSUP, "0x14101 (intgemm of upstream Marian"},
    {0x20, 5, DG_EFORMAT, "5 dimensions"},
    {0x28, 9, DG_EFORMAT, "its shape takes 10 bytes, it has 9"},
    {0x109, 0xc2, DG_EFORMAT, "l_W was multiplied by -42"},
    {0x2f, 0xff, DG_EFORMAT, "ends within its"},
    {0x73, 'x', DG_EFORMAT, "no NUL"},
    {0x98, 0xff, DG_EFORMAT, "its shape is"},
    {0x98, 0x7f, DG_EFORMAT, "its shape"},
    {0xa5, 0x54, DG_EFORMAT, ""},
};

static void changed_files_are_refused(void **state)
{
    (void)state;
    struct dg_buffer b;
    load(FOLDER "worked.bin", &b);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct dg_marian_binary *m = NULL;
        struct dg_error err = {0};
        const unsigned char before = (unsigned char)b.data[changes[i].at];
        b.data[changes[i].at] = (char)changes[i].value;
        int rc = dg_marian_binary_open(dg_input_memory(b.data, b.len), &m, &err);
        if (rc != changes[i].code || !strstr(err.message, changes[i].message))
            fail_msg("byte %zu: %d, \"%s\", expected %d, \"%s\"", changes[i].at, rc, err.message,
                changes[i].code, changes[i].message);
        b.data[changes[i].at] = (char)before;
    }
    dg_buffer_deinit(&b);
}

/* Lists 1 | 0 2 | 2, with one piece always included; bytes and checksum are from Marian's own
 * converter. */
static void lexicon(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    char path[256];
    struct dg_shortlist *s;
    struct dg_error err = {0};
    uint64_t bits[1] = {0};
    int32_t ids[4];
    snprintf(path, sizeof path, "%s/dg_lexicon_XXXXXX", tmp ? tmp : "/tmp");
    close(mkstemp(path));
    for (int shared = 0; shared < 2; shared++) {
        if (dg_marian_lexicon_import(FOLDER "lexicon.bin", 3, 3, shared, path, &err) ||
            dg_shortlist_open(path, 3, 3, &s, &err))
            fail_msg("%s", err.message);
        const int32_t first[] = {0}, second[] = {1}, third[] = {2};
        assert_int_equal(
            dg_shortlist_select(
                s, &(struct dg_shortlist_need){.source = first, .n_source = 1}, bits, ids, 4),
            2);
        assert_true(ids[0] == 0 && ids[1] == 1);
        assert_int_equal(
            dg_shortlist_select(
                s, &(struct dg_shortlist_need){.source = second, .n_source = 1}, bits, ids, 4),
            shared ? 3 : 2);
        assert_true(ids[0] == 0 && ids[1] == (shared ? 1 : 2));
        assert_int_equal(
            dg_shortlist_select(
                s, &(struct dg_shortlist_need){.source = third, .n_source = 1}, bits, ids, 4),
            2);
        assert_true(ids[0] == 0 && ids[1] == 2);
        dg_shortlist_close(s);
    }
    assert_int_equal(
        dg_marian_lexicon_import(FOLDER "lexicon.bin", 4, 3, false, path, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "3 source pieces, the model has 4"));
    err = (struct dg_error){0};
    assert_int_equal(
        dg_marian_lexicon_import(FOLDER "lexicon.bin", 3, 2, false, path, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "the target id 2"));
    unlink(path);
}

static void wrong_lexicons_are_refused(void **state)
{
    (void)state;
    struct dg_buffer b;
    struct dg_marian_lexicon l;
    load(FOLDER "lexicon.bin", &b);
    for (size_t i = 0; i < b.len; i++) {
        /* The last id is not covered by Marian's checksum. */
        const int expected = i >= b.len - b.len % 8 ? 0 : DG_EFORMAT;
        b.data[i] ^= 0x40;
        assert_int_equal(dg_marian_lexicon_read(b.data, b.len, &l, NULL), expected);
        b.data[i] ^= 0x40;
    }
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(worked_file),
        cmocka_unit_test(cut_files_are_refused), cmocka_unit_test(changed_files_are_refused),
        cmocka_unit_test(lexicon), cmocka_unit_test(wrong_lexicons_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
