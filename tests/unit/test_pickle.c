/* Files as torch.save writes them (tests/fuzz/corpus/pickle, made by torch 2): tensors and their
 * values, tied ones, and what is refused and by which name. No changed or truncated byte of a file
 * makes it run anything: at worst another tensor is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/file.h"
#include "convert/pickle/torch_file.h"

#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/fuzz/corpus/pickle/"

static void load(const char *name, struct dg_buffer *b)
{
    dg_buffer_init(b);
    assert_int_equal(dg_file_read(name, b, NULL), 0);
}

/* {"a": 0..5 as [2,3] in fp32, "b": the same in fp16, "tied": a} */
static void tensors_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {FOLDER "zip.bin", FOLDER "old.bin"};
    static const char *const keys[] = {"a", "b", "tied"};
    for (int i = 0; i < 2; i++) {
        struct dg_torch_file *f;
        struct dg_error err = {0};
        if (dg_torch_file_open(dg_input_path(names[i]), &f, &err))
            fail_msg("%s", err.message);
        assert_int_equal(dg_torch_file_count(f), 3);
        for (size_t k = 0; k < 3; k++) {
            const struct dg_safetensor *t = dg_torch_file_at(f, k);
            float values[6];
            assert_string_equal(t->name, keys[k]);
            assert_int_equal(t->type, k == 1 ? DG_F16 : DG_F32);
            assert_true(t->n_dims == 2 && t->shape[0] == 2 && t->shape[1] == 3 && t->count == 6);
            dg_safetensors_read(t, values);
            for (int v = 0; v < 6; v++)
                assert_true(values[v] == (float)v);
        }
        assert_ptr_equal(dg_torch_file_at(f, 0)->data, dg_torch_file_at(f, 2)->data);
        assert_null(dg_torch_file_at(f, 3));
        dg_torch_file_close(f);
    }
}

static void what_is_no_tensor_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *message;
    } files[] = {{FOLDER "evil.bin", "it asks for posix.system, which is not a tensor's"},
        {FOLDER "strided.bin", "tensor a is not contiguous"},
        {FOLDER "double.bin", "tensor a is of torch.DoubleStorage"},
        {FOLDER "list.bin", "a is not a tensor"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct dg_torch_file *f;
        struct dg_error err = {0};
        assert_int_equal(dg_torch_file_open(dg_input_path(files[i].name), &f, &err), DG_EUNSUP);
        if (!strstr(err.message, files[i].message))
            fail_msg("%s: %s", files[i].name, err.message);
    }
}

static void try(const char *data, size_t n)
{
    struct dg_torch_file *f;
    struct dg_error err = {0};
    char *copy = malloc(n ? n : 1); /* a block of exact size: a read beyond it is found */
    memcpy(copy, data, n);
    if (dg_torch_file_open(dg_input_memory(copy, n), &f, &err) == 0) {
        for (size_t i = 0; i < dg_torch_file_count(f); i++) {
            const struct dg_safetensor *t = dg_torch_file_at(f, i);
            float *values = malloc(t->count * sizeof *values);
            dg_safetensors_read(t, values);
            free(values);
        }
        dg_torch_file_close(f);
    } else {
        assert_true(err.message[0] != '\0');
    }
    free(copy);
}

static void cut_and_changed_files_harm_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {FOLDER "zip.bin", FOLDER "old.bin"};
    for (int i = 0; i < 2; i++) {
        struct dg_buffer b;
        load(names[i], &b);
        for (size_t n = 0; n < b.len; n++)
            try(b.data, n);
        for (size_t at = 0; at < b.len; at++)
            for (int bit = 0; bit < 8; bit++) {
                b.data[at] = (char)(b.data[at] ^ 1 << bit);
                try(b.data, b.len);
                b.data[at] = (char)(b.data[at] ^ 1 << bit);
            }
        dg_buffer_deinit(&b);
    }
}

/* Opcodes that import, call or build in ways torch.save does not. */
static void opcodes_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        int code;
        const char *message;
    } pickles[] = {
        {"\x80\x04.", 3, DG_EUNSUP, "protocol is not 2"},
        {"\x80\x02"
         "cos\nsystem\n.",
            13, DG_EUNSUP, "os.system"},
        {"\x80\x02"
         "cbuiltins\neval\n.",
            17, DG_EUNSUP, "builtins.eval"},
        {"\x80\x02"
         "ctorch\nload\n.",
            14, DG_EUNSUP, "torch.load"},
        {"\x80\x02"
         "i",
            3, DG_EUNSUP, "opcode 0x69"},
        {"\x80\x02"
         "o",
            3, DG_EUNSUP, "opcode 0x6f"},
        {"\x80\x02\x81", 3, DG_EUNSUP, "opcode 0x81"},
        {"\x80\x02\x93", 3, DG_EUNSUP, "opcode 0x93"},
        {"\x80\x02"
         "ccollections\nOrderedDict\nK\x01\x85R.",
            31, DG_EFORMAT, "a REDUCE"},
        {"\x80\x02K\x01K\x02"
         "b.",
            8, DG_EFORMAT, "a BUILD"},
        {"\x80\x02h\x05.", 5, DG_EFORMAT, "a BINGET"},
        {"\x80\x02t.", 4, DG_EFORMAT, "without a MARK"},
        {"\x80\x02}", 3, DG_EFORMAT, "without a STOP"},
        {"\x80\x02.", 3, DG_EFORMAT, "nothing to give back"},
        {"\x80\x02X\xff\xff\xff\x7f", 7, DG_EFORMAT, "a text"},
        {"", 0, DG_EFORMAT, "without a STOP"},
    };
    for (size_t i = 0; i < sizeof pickles / sizeof pickles[0]; i++) {
        struct dg_torch_file *f;
        struct dg_error err = {0};
        int rc = dg_torch_file_open(dg_input_memory(pickles[i].bytes, pickles[i].n), &f, &err);
        if (rc != pickles[i].code || !strstr(err.message, pickles[i].message))
            fail_msg("%zu: %d \"%s\", expected \"%s\"", i, rc, err.message, pickles[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tensors_are_read),
        cmocka_unit_test(what_is_no_tensor_is_refused),
        cmocka_unit_test(cut_and_changed_files_harm_nothing),
        cmocka_unit_test(opcodes_are_refused_by_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
