/* The .safetensors reader over files built here byte by byte: sound ones are read, wrong ones
 * refused with the reason and the tensor's name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/file.h"
#include "convert/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file {
    unsigned char bytes[2048];
    size_t size;
};

/* Makes a file: length, header, data[n]. */
static struct file make(const char *header, const void *data, size_t n)
{
    struct file f;
    uint64_t length = strlen(header);
    assert_true(8 + length + n <= sizeof f.bytes);
    memcpy(f.bytes, &length, 8);
    memcpy(f.bytes + 8, header, length);
    if (n)
        memcpy(f.bytes + 8 + length, data, n);
    f.size = 8 + length + n;
    return f;
}

/* Opens a copy of exact size, so that the sanitizers see a read past the end. */
static int open_copy(const struct file *f, size_t size, unsigned char **copy,
    struct dg_safetensors **s, struct dg_error *err)
{
    *copy = malloc(size ? size : 1);
    memcpy(*copy, f->bytes, size);
    *s = NULL;
    return dg_safetensors_open(dg_input_memory(*copy, size), s, err);
}

/* 1.5 and -2 in the three types, after an odd number of header bytes. */
static const unsigned char good_data[] = {0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0, /* a: F32 */
    0, 0x3e, 0, 0xc0,                                                      /* b: F16 */
    0xc0, 0x3f, 0, 0xc0};                                                  /* c: BF16 */
static const char good_header[] =
    "{\"__metadata__\":{\"format\":\"pt\"},\"c\":{\"dtype\":\"BF16\",\"shape\":[1,2,1,1],\"data_"
    "offsets\":[12,16]},"
    "\"a\":{\"shape\":[2],\"data_offsets\":[0,8],\"dtype\":\"F32\"},"
    "\"b\":{\"dtype\":\"F16\",\"shape\":[2,1],\"data_offsets\":[8,12]}}   ";

static void check_good(const struct dg_safetensors *s)
{
    static const char *const names[] = {"a", "b", "c"};
    static const enum dg_type types[] = {DG_F32, DG_F16, DG_BF16};
    static const size_t dims[] = {1, 2, 4};
    assert_int_equal(dg_safetensors_count(s), 3);
    assert_null(dg_safetensors_at(s, 3));
    for (size_t i = 0; i < 3; i++) {
        const struct dg_safetensor *t = dg_safetensors_at(s, i);
        float values[2] = {0};
        assert_string_equal(t->name, names[i]);
        assert_int_equal(t->type, types[i]);
        assert_int_equal(t->n_dims, dims[i]);
        assert_int_equal(t->count, 2);
        dg_safetensors_read(t, values);
        assert_true(values[0] == 1.5f && values[1] == -2.0f);
    }
    assert_int_equal(dg_safetensors_at(s, 2)->shape[1], 2);
}

static void good_files_are_read(void **state)
{
    (void)state;
    struct file f = make(good_header, good_data, sizeof good_data);
    struct dg_error err = {0};
    struct dg_safetensors *s;
    unsigned char *copy;
    if (open_copy(&f, f.size, &copy, &s, &err))
        fail_msg("%s", err.message);
    check_good(s);
    dg_safetensors_close(s);
    free(copy);
    char path[] = "/tmp/dg_safetensors_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, f.bytes, f.size), f.size);
    close(fd);
    if (dg_safetensors_open(dg_input_path(path), &s, &err))
        fail_msg("%s", err.message);
    check_good(s);
    dg_safetensors_close(s);
    assert_int_equal(truncate(path, 30), 0);
    assert_int_equal(dg_safetensors_open(dg_input_path(path), &s, &err), DG_EFORMAT);
    assert_ptr_equal(strstr(err.message, path), err.message);
    unlink(path);
    assert_int_equal(dg_safetensors_open(dg_input_path(path), &s, NULL), DG_ENOTFOUND);
    dg_safetensors_close(NULL);
}

static void a_scalar_is_one_element(void **state)
{
    (void)state;
    struct file f =
        make("{\"x\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", good_data, 4);
    struct dg_safetensors *s;
    unsigned char *copy;
    float x;
    assert_int_equal(open_copy(&f, f.size, &copy, &s, NULL), 0);
    assert_int_equal(dg_safetensors_at(s, 0)->n_dims, 0);
    assert_int_equal(dg_safetensors_at(s, 0)->count, 1);
    dg_safetensors_read(dg_safetensors_at(s, 0), &x);
    assert_true(x == 1.5f);
    dg_safetensors_close(s);
    free(copy);
}

#define X(type, shape, offsets)                                                                    \
    "{\"x\":{\"dtype\":" type ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define Y ",\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":"

static const struct bad {
    const char *header;
    size_t data;
    int code;
    const char *message; /* a part of it */
} bads[] = {
    {"", 8, DG_EFORMAT, "does not begin with '{'"},
    {"[]", 0, DG_EFORMAT, "does not begin with '{'"},
    {" {}", 0, DG_EFORMAT, "does not begin with '{'"},
    {"{}", 0, DG_EFORMAT, "no tensor"},
    {"{\"__metadata__\":{}}", 0, DG_EFORMAT, "no tensor"},
    {"{\"__metadata__\":[]}", 0, DG_EFORMAT, "__metadata__ is not an object"},
    {"{\"x\":", 0, DG_EFORMAT, "header: "},
    {"{\"x\":1}", 0, DG_EFORMAT, "tensor x is "},
    {"{\"x\":{}}", 0, DG_EFORMAT, "tensor x: dtype is missing"},
    {"{\"\":{}}", 0, DG_EFORMAT, "name has 0 bytes"},
    {"{\"a\\nb\":{}}", 0, DG_EFORMAT, "control character"},
    {X("1", "[1]", "[0,4]"), 4, DG_EFORMAT, "tensor x: dtype is missing"},
    {X("\"F64\"", "[1]", "[0,8]"), 8, DG_EUNSUP, "tensor x: dtype is \"F64\""},
    {X("\"I64\"", "[1]", "[0,8]"), 8, DG_EUNSUP, "tensor x: dtype is \"I64\""},
    {X("\"f32\"", "[1]", "[0,4]"), 4, DG_EUNSUP, "tensor x: dtype is \"f32\""},
    {X("\"F32\"", "1", "[0,4]"), 4, DG_EFORMAT, "tensor x: shape is not a list"},
    {X("\"F32\"", "null", "[0,4]"), 4, DG_EFORMAT, "tensor x: shape is not a list"},
    {X("\"F32\"", "[1,1,1,1,1]", "[0,4]"), 4, DG_EFORMAT, "tensor x: shape is not a list"},
    {X("\"F32\"", "[0]", "[0,0]"), 0, DG_EFORMAT, "tensor x: size 1"},
    {X("\"F32\"", "[1,-1]", "[0,4]"), 4, DG_EFORMAT, "tensor x: size 2"},
    {X("\"F32\"", "[1.0]", "[0,4]"), 4, DG_EFORMAT, "tensor x: size 1"},
    {X("\"F32\"", "[\"1\"]", "[0,4]"), 4, DG_EFORMAT, "tensor x: size 1"},
    {X("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0, DG_EFORMAT,
        "tensor x: its shape has more"},
    {X("\"F32\"", "[9223372036854775807,2,2,2]", "[0,8]"), 8, DG_EFORMAT,
        "tensor x: its shape has more"},
    {X("\"F32\"", "[1]", "[0]"), 4, DG_EFORMAT, "tensor x: data_offsets is not a pair"},
    {X("\"F32\"", "[1]", "[0,4,8]"), 4, DG_EFORMAT, "tensor x: data_offsets is not a pair"},
    {X("\"F32\"", "[1]", "[-4,0]"), 4, DG_EFORMAT, "tensor x: data_offsets is not a pair"},
    {X("\"F32\"", "[1]", "[0,4.5]"), 4, DG_EFORMAT, "tensor x: data_offsets is not a pair"},
    {X("\"F32\"", "[1]", "{\"0\":4}"), 4, DG_EFORMAT, "tensor x: data_offsets is not a pair"},
    {X("\"F32\"", "[1]", "[4,0]"), 4, DG_EFORMAT, "tensor x: data_offsets 4 to 0"},
    {X("\"F32\"", "[1]", "[0,4]"), 3, DG_EFORMAT, "tensor x: data_offsets 0 to 4, the file has 3"},
    {X("\"F32\"", "[1]", "[9223372036854775803,9223372036854775807]"), 4, DG_EFORMAT,
        "tensor x: data_offsets 92"},
    {X("\"F32\"", "[2]", "[0,4]"), 4, DG_EFORMAT,
        "tensor x: its shape takes 8 bytes, data_offsets hold 4"},
    {X("\"F16\"", "[1]", "[0,4]"), 4, DG_EFORMAT,
        "tensor x: its shape takes 2 bytes, data_offsets hold 4"},
    {X("\"F32\"", "[1]", "[4,8]"), 8, DG_EFORMAT,
        "tensor x begins at byte 4 of the data, expected 0"},
    {X("\"F32\"", "[1]", "[0,4]"), 5, DG_EFORMAT, "the tensors take 4 bytes, the file has 5"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}" Y "[0,4]}}", 8, DG_EFORMAT,
        "begins at byte 0 of the data, expected 4"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}" Y "[2,6]}}", 8, DG_EFORMAT,
        "tensor y begins at byte 2 of the data, expected 4"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}" Y "[8,12]}}", 12, DG_EFORMAT,
        "tensor y begins at byte 8 of the data, expected 4"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"x\":1}", 4, DG_EFORMAT,
        "header: "},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"code\":\"x\"}}", 4,
        DG_EFORMAT, "tensor x: more is said"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}}", 4, DG_EFORMAT,
        "header: "},
};

static void bad_files_are_refused(void **state)
{
    (void)state;
    static const unsigned char zeros[16];
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        struct file f = make(bads[i].header, zeros, bads[i].data);
        struct dg_error err = {0};
        struct dg_safetensors *s;
        unsigned char *copy;
        int rc = open_copy(&f, f.size, &copy, &s, &err);
        if (rc != bads[i].code || !strstr(err.message, bads[i].message))
            fail_msg("%s: %d \"%s\", expected %d \"%s\"", bads[i].header, rc, err.message,
                bads[i].code, bads[i].message);
        assert_null(s);
        free(copy);
    }
}

/* Any number may be given as the header's length. */
static void header_lengths_are_checked(void **state)
{
    (void)state;
    struct file f = make(good_header, good_data, sizeof good_data);
    static const uint64_t lengths[] = {0, 1, 2, 100000001, UINT64_MAX, UINT64_MAX - 7, INT64_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct dg_safetensors *s;
        unsigned char *copy;
        memcpy(f.bytes, &lengths[i], 8);
        assert_int_equal(open_copy(&f, f.size, &copy, &s, NULL), DG_EFORMAT);
        free(copy);
    }
}

/* A file that ends early, or has a byte too many, is refused. */
static void every_other_size_is_refused(void **state)
{
    (void)state;
    struct file f = make(good_header, good_data, sizeof good_data);
    f.bytes[f.size] = 0;
    for (size_t n = 0; n <= f.size + 1; n++) {
        struct dg_safetensors *s;
        unsigned char *copy;
        assert_int_equal(open_copy(&f, n, &copy, &s, NULL), n == f.size ? 0 : DG_EFORMAT);
        dg_safetensors_close(s);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files_are_read),
        cmocka_unit_test(a_scalar_is_one_element),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(header_lengths_are_checked),
        cmocka_unit_test(every_other_size_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
