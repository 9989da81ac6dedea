/* A damaged weights file: every field in turn, every flipped bit, every truncation, and what
 * loading checks. */
#include "tests/unit/weights_example.h"

/* A field of the format, and its place in the example. */
struct spot {
    const char *field;
    size_t offset, size;
    bool by_verify; /* open does not read the data that it describes */
};

#define HEADER(f)                                                                                  \
    {                                                                                              \
#f, offsetof(struct dg_disk_header, f), sizeof((struct dg_disk_header *)0)->f, false       \
    }
#define TENSOR(i, f)                                                                               \
    {                                                                                              \
#f, 64 + 32 * (i) + offsetof(struct dg_disk_tensor, f),                                    \
            sizeof((struct dg_disk_tensor *)0)->f, false                                           \
    }
#define FORM(i, f, v)                                                                              \
    {                                                                                              \
#f, 128 + 64 * (i) + offsetof(struct dg_disk_form, f),                                     \
            sizeof((struct dg_disk_form *)0)->f, v                                                 \
    }

static const struct spot spots[] = {HEADER(magic), HEADER(endian), HEADER(version),
    HEADER(header_bytes), HEADER(file_bytes), HEADER(tensor_count), HEADER(form_count),
    HEADER(names_bytes), HEADER(reserved0), HEADER(reserved1), TENSOR(0, name_offset),
    TENSOR(0, name_bytes), TENSOR(0, rows), TENSOR(0, cols), TENSOR(0, first_form),
    TENSOR(0, form_count), TENSOR(1, name_offset), TENSOR(1, name_bytes), TENSOR(1, rows),
    TENSOR(1, cols), TENSOR(1, first_form), TENSOR(1, form_count), FORM(0, type, false),
    FORM(0, layout, false), FORM(0, data_offset, false), FORM(0, data_bytes, false),
    FORM(0, data_checksum, true), FORM(0, scales_offset, false), FORM(0, scales_bytes, false),
    FORM(0, scales_checksum, false), FORM(0, reserved, false), FORM(1, type, false),
    FORM(1, data_offset, false), FORM(1, data_bytes, false), FORM(1, data_checksum, true),
    FORM(1, scales_offset, false), FORM(1, scales_bytes, false), FORM(1, scales_checksum, true),
    FORM(1, reserved, false), FORM(2, layout, false), FORM(2, data_offset, false),
    FORM(2, data_bytes, false), FORM(2, data_checksum, true), FORM(2, reserved, false)};

static void expect_refusal(
    const unsigned char *bytes, size_t size, const struct spot *s, uint64_t value)
{
    struct dg_weights *w = NULL;
    struct dg_error err = {0};
    int rc = dg_weights_open_memory(bytes, size, &w, &err);
    if (s->by_verify) {
        assert_int_equal(rc, 0);
        rc = dg_weights_verify(w, &err);
        dg_weights_close(w);
    }
    if (rc == 0)
        fail_msg(
            "%s at byte %zu = %llx was accepted", s->field, s->offset, (unsigned long long)value);
    assert_int_equal(rc, strcmp(s->field, "version") == 0 ? DG_EUNSUP : DG_EFORMAT);
    if (!strstr(err.message, s->field) || !err.field[0])
        fail_msg("%s at byte %zu = %llx: field \"%s\", message \"%s\"", s->field, s->offset,
            (unsigned long long)value, err.field, err.message);
}

static void every_field_is_refused_by_name(void **state)
{
    (void)state;
    unsigned char *good = example(), *bad = aligned_alloc(64, EXAMPLE_BYTES);
    for (size_t i = 0; i < sizeof spots / sizeof spots[0]; i++) {
        const struct spot *s = &spots[i];
        uint64_t was = 0, top = s->size == 8 ? UINT64_MAX : UINT32_MAX;
        memcpy(&was, good + s->offset, s->size);
        const uint64_t values[] = {0, was + 1, was - 1, was + 64, was - 64, was ^ (top / 2 + 1),
            top, top - 63, top / 2, was * 2 + 1, (uint64_t)1 << 20, (uint64_t)1 << 31,
            (uint64_t)1 << 40};
        for (size_t j = 0; j < sizeof values / sizeof values[0]; j++) {
            uint64_t value = values[j] & top;
            if (value == was)
                continue;
            memcpy(bad, good, EXAMPLE_BYTES);
            memcpy(bad + s->offset, &value, s->size);
            reseal(bad);
            expect_refusal(bad, EXAMPLE_BYTES, s, value);
        }
    }
    free(good);
    free(bad);
}

static void every_flipped_header_bit_is_refused(void **state)
{
    (void)state;
    unsigned char *bytes = example();
    for (size_t bit = 0; bit < 8 * 384; bit++) {
        struct dg_weights *w;
        struct dg_error err = {0};
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_not_equal(dg_weights_open_memory(bytes, EXAMPLE_BYTES, &w, &err), 0);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    const struct spot checksum = {"header_checksum", 8, 8, false};
    bytes[8] ^= 1;
    expect_refusal(bytes, EXAMPLE_BYTES, &checksum, 0);
    free(bytes);
}

static void every_flipped_block_bit_is_found_by_verify(void **state)
{
    (void)state;
    unsigned char *bytes = example();
    struct dg_weights *w;
    assert_int_equal(dg_weights_open_memory(bytes, EXAMPLE_BYTES, &w, NULL), 0);
    assert_int_equal(dg_weights_verify(w, NULL), 0);
    for (size_t bit = 8 * 384; bit < 8 * EXAMPLE_BYTES; bit++) {
        struct dg_error err = {0};
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_equal(dg_weights_verify(w, &err), DG_EFORMAT);
        assert_non_null(strstr(err.message, bit / 8 < 576 ? "tensor w" : "tensor b"));
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    dg_weights_close(w);
    free(bytes);
}

/* In memory of exact size, so that a sanitizer sees any read past it; also with that size claimed
 * as the right one. */
static void every_truncation_is_refused(void **state)
{
    (void)state;
    unsigned char *good = example();
    for (uint64_t size = 0; size < EXAMPLE_BYTES; size++) {
        unsigned char *cut = NULL;
        struct dg_weights *w;
        struct dg_error err = {0};
        assert_int_equal(posix_memalign((void **)&cut, 64, size ? size : 1), 0);
        memcpy(cut, good, size);
        assert_int_equal(dg_weights_open_memory(cut, size, &w, &err), DG_EFORMAT);
        assert_string_equal(err.field, "file_bytes");
        if (size >= 64) {
            memcpy(cut + 32, &size, sizeof size);
            if (size >= 384)
                reseal(cut);
            assert_int_equal(dg_weights_open_memory(cut, size, &w, NULL), DG_EFORMAT);
        }
        free(cut);
    }
    free(good);
}

static void longer_file_is_refused(void **state)
{
    (void)state;
    unsigned char *good = example(), *longer = aligned_alloc(64, 704);
    struct dg_weights *w;
    struct dg_error err = {0};
    uint64_t size = 704;
    memcpy(longer, good, EXAMPLE_BYTES);
    memset(longer + EXAMPLE_BYTES, 0, 64);
    memcpy(longer + 32, &size, sizeof size);
    reseal(longer);
    assert_int_equal(dg_weights_open_memory(longer, 704, &w, &err), DG_EFORMAT);
    assert_string_equal(err.field, "file_bytes");
    free(good);
    free(longer);
}

/* One bit of any tensor's data: loading refuses what opening does not check. */
static void loading_checks_every_byte(void **state)
{
    struct dg_error err = {0};
    struct dg_weights *w;
    char path[256];
    size_t size;
    (void)state;
    unsigned char *bytes = written(example_writer(), &size);
    struct dg_weights *good;
    assert_int_equal(dg_weights_open_memory(bytes, size, &good, &err), 0);
    size_t at = (size_t)((const unsigned char *)dg_weights_find(good, "w")->stored[0].data - bytes);
    dg_weights_close(good);
    bytes[at] ^= 1;
    snprintf(path, sizeof path, "%s", temporary("damaged.dgw"));
    assert_int_equal(dg_file_write(path, bytes, size, &err), 0);
    assert_int_equal(dg_weights_open(path, &w, &err), 0);
    dg_weights_close(w);
    assert_int_equal(dg_weights_load(path, &w, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "tensor w"));
    unlink(path);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_refused_by_name),
        cmocka_unit_test(every_flipped_header_bit_is_refused),
        cmocka_unit_test(every_flipped_block_bit_is_found_by_verify),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(longer_file_is_refused),
        cmocka_unit_test(loading_checks_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
