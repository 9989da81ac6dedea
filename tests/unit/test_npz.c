/* The .npz reader over archives that tests/data/convert/make.py wrote byte by byte: sound ones are
 * read, wrong ones refused with the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "base/file.h"
#include "convert/npz.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "tests/data/convert/npz/"

static const struct shape {
    const char *name;
    enum dg_npy_type type;
    size_t n_dims;
    uint64_t shape[4];
    const char *data;
    size_t bytes;
} shapes[] = {
    {"x", DG_NPY_F32, 2, {2, 3}, NULL, 24},
    {"v2", DG_NPY_F32, 2, {2, 3}, NULL, 24},
    {"v3", DG_NPY_F32, 2, {2, 3}, NULL, 24},
    {"scalar", DG_NPY_F32, 0, {0}, "\0\0\x80\x3f", 4},
    {"vector", DG_NPY_F32, 1, {3}, "\0\0\0\0\0\0\0\0\0\0\0\0", 12},
    {"four", DG_NPY_F32, 4, {1, 1, 3, 2}, NULL, 24},
    {"special:bytes", DG_NPY_BYTE, 1, {5}, "hello", 5},
    {"u1", DG_NPY_BYTE, 1, {5}, "world", 5},
    {"marian's", DG_NPY_BYTE, 1, {5}, "bytes", 5},
    {"half", DG_NPY_F16, 1, {2}, "\x00\x3c\x00\xb8", 4},
};

static void check_good(struct dg_npz *z)
{
    const float counted[6] = {0, 1, 2, 3, 4, 5};
    assert_int_equal(dg_npz_count(z), sizeof shapes / sizeof shapes[0]);
    assert_null(dg_npz_find(z, "y"));
    assert_null(dg_npz_at(z, dg_npz_count(z)));
    for (size_t i = 0; i < dg_npz_count(z); i++) {
        const struct shape *s = &shapes[i];
        const struct dg_npy *a = dg_npz_find(z, s->name);
        struct dg_error err = {0};
        char data[24];
        assert_non_null(a);
        assert_ptr_equal(a, dg_npz_at(z, i));
        assert_int_equal(a->type, s->type);
        assert_int_equal(a->n_dims, s->n_dims);
        assert_memory_equal(a->shape, s->shape, s->n_dims * sizeof a->shape[0]);
        assert_int_equal(a->count, s->bytes / (s->type == DG_NPY_F32      ? 4
                                                  : s->type == DG_NPY_F16 ? 2
                                                                          : 1));
        if (dg_npz_read(z, a, data, &err) != 0)
            fail_msg("%s: %s", s->name, err.message);
        assert_memory_equal(data, s->data ? s->data : (const char *)counted, s->bytes);
    }
}

static void good_archives_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {FOLDER "good.npz", FOLDER "good_deflated.npz"};
    for (int i = 0; i < 2; i++) {
        struct dg_npz *z;
        struct dg_error err = {0};
        struct dg_buffer bytes;
        if (dg_npz_open(dg_input_path(names[i]), &z, &err) != 0)
            fail_msg("%s", err.message);
        check_good(z);
        check_good(z); /* twice: reading changes nothing */
        dg_npz_close(z);
        dg_buffer_init(&bytes);
        assert_int_equal(dg_file_read(names[i], &bytes, NULL), 0);
        assert_int_equal(dg_npz_open(dg_input_memory(bytes.data, bytes.len), &z, NULL), 0);
        check_good(z);
        dg_npz_close(z);
        dg_buffer_deinit(&bytes);
    }
    dg_npz_close(NULL);
}

static const struct bad {
    const char *name;
    int code;
    const char *message; /* a part of it */
} bads[] = {
    {"fortran", DG_EUNSUP, "array x: fortran_order is True"},
    {"not_boolean", DG_EFORMAT, "array x: fortran_order is not a boolean"},
    {"big_endian", DG_EUNSUP, "array x: descr is '>f4'"},
    {"doubles", DG_EUNSUP, "array x: descr is '<f8'"},
    {"structured", DG_EFORMAT, "array x: descr is not a type's name"},
    {"zero", DG_EFORMAT, "array x: shape is not"},
    {"number", DG_EFORMAT, "array x: shape is not"},
    {"negative", DG_EFORMAT, "array x: shape is not"},
    {"five", DG_EFORMAT, "array x: shape is not"},
    {"huge", DG_EFORMAT, "array x: shape is not"},
    {"wraps", DG_EFORMAT, "array x: shape is not"},
    {"claims_more", DG_EFORMAT, "array x: shape takes 32 bytes, the entry holds 24"},
    {"claims_less", DG_EFORMAT, "array x: shape takes 16 bytes, the entry holds 24"},
    {"no_shape", DG_EFORMAT, "array x: its header lacks"},
    {"twice", DG_EFORMAT, "array x: its header has a second 'descr'"},
    {"unknown_key", DG_EFORMAT, "array x: its header has an unknown 'x'"},
    {"trailing", DG_EFORMAT, "array x: something follows"},
    {"no_dictionary", DG_EFORMAT, "array x: its header is not a dictionary"},
    {"open_end", DG_EFORMAT, "array x: its header is not a dictionary"},
    {"magic", DG_EFORMAT, "array x: it does not begin with NumPy's magic"},
    {"version", DG_EFORMAT, "array x: .npy version is 4.0"},
    {"long_header", DG_EFORMAT, "array x: its header has 5"},
    {"no_data", DG_EFORMAT, "array x: shape takes 24 bytes, the entry holds 0"},
    {"cut_header", DG_EFORMAT, "array x: it ends 108 bytes early"},
    {"empty_entry", DG_EFORMAT, "array x: it ends 10 bytes early"},
    {"not_npy", DG_EFORMAT, "\"x.txt\", which is not a .npy array"},
    {"no_entries", DG_EFORMAT, "0 entries"},
    {"same_name", DG_EFORMAT, "array x is there twice"},
    {"cut_archive", DG_EFORMAT, "no zip archive"},
    {"no_zip", DG_EFORMAT, "no zip archive"},
    {"missing", DG_ENOTFOUND, "cannot be opened: No such file"},
};

static void bad_archives_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        struct dg_npz *z = NULL;
        struct dg_error err = {0};
        char path[256];
        snprintf(path, sizeof path, FOLDER "%s.npz", bads[i].name);
        int rc = dg_npz_open(dg_input_path(path), &z, &err);
        if (rc != bads[i].code || !strstr(err.message, bads[i].message) ||
            strstr(err.message, path) != err.message)
            fail_msg("%s: %d \"%s\", expected %d \"%s\"", path, rc, err.message, bads[i].code,
                bads[i].message);
        assert_null(z);
    }
}

static void wrong_crc_is_refused_when_read(void **state)
{
    (void)state;
    struct dg_npz *z;
    struct dg_error err = {0};
    float data[6];
    assert_int_equal(dg_npz_open(dg_input_path(FOLDER "crc.npz"), &z, &err), 0);
    assert_int_equal(dg_npz_read(z, dg_npz_at(z, 0), data, &err), DG_EFORMAT);
    assert_string_equal(err.field, "x");
    assert_non_null(strstr(err.message, "CRC"));
    dg_npz_close(z);
}

/* An archive that ends early must not be accepted, nor read past its end (sanitizers check
 * this). */
static void every_truncation_is_refused(void **state)
{
    (void)state;
    struct dg_buffer bytes;
    dg_buffer_init(&bytes);
    assert_int_equal(dg_file_read(FOLDER "good_deflated.npz", &bytes, NULL), 0);
    for (size_t n = 0; n < bytes.len; n++) {
        struct dg_npz *z = NULL;
        struct dg_error err = {0};
        assert_int_equal(dg_npz_open(dg_input_memory(bytes.data, n), &z, &err), DG_EFORMAT);
        assert_null(z);
    }
    dg_buffer_deinit(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_archives_are_read),
        cmocka_unit_test(bad_archives_are_refused),
        cmocka_unit_test(wrong_crc_is_refused_when_read),
        cmocka_unit_test(every_truncation_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
