/* The weights file: FORMAT.md's example byte for byte, every field damaged in turn, every
 * truncation, the writer's refusals, 16-bit floats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "base/file.h"
#include "weights/disk.h"
#include "weights/half.h"
#include "weights/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXAMPLE_BYTES 640

static const float w_rows[6] = {1, -2, 0.5f, 3, 0.25f, -1}; /* [2,3] */
static const int8_t w_s8[6] = {64, -128, 32, 96, 8, -32};   /* [2,3] */
static const float w_scales[2] = {1.0f / 64, 1.0f / 32};    /* [2] */
static const float b_rows[3] = {0.1f, 1, 65504};            /* [1,3] */

static char *temporary(const char *name)
{
    static char path[256];
    const char *dir = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/dg_weights_%ld_%s", dir ? dir : "/tmp", (long)getpid(), name);
    return path;
}

static struct dg_weights_writer *example_writer(void)
{
    struct dg_weights_writer *w;
    struct dg_error err = {0};
    struct dg_stored s8 = {DG_S8, DG_LAYOUT_ROWS, w_s8, w_scales};
    assert_int_equal(dg_weights_writer_open(&w, &err), 0);
    assert_int_equal(dg_weights_writer_add(w, "w", 2, 3, DG_F32, w_rows, &err), 0);
    assert_int_equal(dg_weights_writer_add_form(w, "w", &s8, 6, &err), 0);
    assert_int_equal(dg_weights_writer_add(w, "b", 1, 3, DG_F16, b_rows, &err), 0);
    return w;
}

/* What the writer makes, as bytes, 64-byte aligned; free it. */
static unsigned char *written(struct dg_weights_writer *w, size_t *size)
{
    struct dg_error err = {0};
    struct dg_map map;
    char *path = temporary("written.dgw");
    if (dg_weights_writer_commit(w, path, &err) != 0)
        fail_msg("commit: %s", err.message);
    dg_weights_writer_close(w);
    assert_int_equal(dg_file_map(path, &map, &err), 0);
    unsigned char *bytes = aligned_alloc(64, map.size);
    memcpy(bytes, map.data, map.size);
    *size = map.size;
    dg_file_unmap(&map);
    unlink(path);
    return bytes;
}

static unsigned char *example(void)
{
    size_t size;
    unsigned char *bytes = written(example_writer(), &size);
    assert_int_equal(size, EXAMPLE_BYTES);
    return bytes;
}

/* The bytes between ```hex and ```: an offset, then 16 bytes a line, then a note. */
static size_t read_hex(const char *text, unsigned char *out, size_t cap)
{
    size_t n = 0;
    const char *line = strstr(text, "```hex\n");
    assert_non_null(line);
    for (line = strchr(line, '\n') + 1; strncmp(line, "```", 3) != 0;
         line = strchr(line, '\n') + 1) {
        unsigned offset, byte;
        int used;
        assert_int_equal(sscanf(line, "%x %n", &offset, &used), 1);
        assert_int_equal(offset, n);
        for (int i = 0; i < 16; i++, used += 3) {
            assert_int_equal(sscanf(line + used, "%2x", &byte), 1);
            assert_true(n < cap);
            out[n++] = (unsigned char)byte;
        }
    }
    return n;
}

static void format_md_example_is_what_the_writer_writes(void **state)
{
    (void)state;
    unsigned char documented[1024], *bytes = example();
    struct dg_buffer text;
    dg_buffer_init(&text);
    assert_int_equal(dg_file_read("weights/FORMAT.md", &text, NULL), 0);
    assert_int_equal(read_hex(text.data, documented, sizeof documented), EXAMPLE_BYTES);
    for (size_t i = 0; i < EXAMPLE_BYTES; i++) {
        if (documented[i] != bytes[i])
            fail_msg("byte %zu is %02x, FORMAT.md says %02x", i, bytes[i], documented[i]);
    }
    dg_buffer_deinit(&text);
    free(bytes);
}

static void example_reads_back(void **state)
{
    (void)state;
    struct dg_weights *w;
    struct dg_error err = {0};
    char *path = temporary("example.dgw");
    struct dg_weights_writer *writer = example_writer();
    assert_int_equal(dg_weights_writer_commit(writer, path, &err), 0);
    dg_weights_writer_close(writer);
    assert_int_equal(dg_weights_open(path, &w, &err), 0);
    assert_int_equal(dg_weights_verify(w, &err), 0);
    assert_int_equal(dg_weights_count(w), 2);
    assert_int_equal(dg_weights_bytes(w), EXAMPLE_BYTES);
    assert_null(dg_weights_find(w, "x"));
    assert_null(dg_weights_find(w, ""));
    assert_null(dg_weights_at(w, 2));

    const struct dg_tensor *t = dg_weights_find(w, "w");
    assert_non_null(t);
    assert_ptr_equal(t, dg_weights_at(w, 0));
    assert_int_equal(t->shape[0], 2);
    assert_int_equal(t->shape[1], 3);
    assert_int_equal(t->n_stored, 2);
    assert_int_equal(t->n_unknown, 0);
    assert_memory_equal(t->stored[0].data, w_rows, sizeof w_rows);
    assert_null(t->stored[0].scales);
    assert_int_equal(t->stored[1].type, DG_S8);
    assert_int_equal(t->bytes[1], 6);
    assert_memory_equal(t->stored[1].data, w_s8, sizeof w_s8);
    assert_memory_equal(t->stored[1].scales, w_scales, sizeof w_scales);
    for (int i = 0; i < 2; i++) {
        assert_int_equal((uintptr_t)t->stored[i].data % 64, 0);
        assert_int_equal((uintptr_t)t->stored[i].scales % 64, 0);
    }
    const uint16_t b_f16[3] = {0x2e66, 0x3c00, 0x7bff};
    t = dg_weights_find(w, "b");
    assert_int_equal(t->stored[0].type, DG_F16);
    assert_memory_equal(t->stored[0].data, b_f16, sizeof b_f16);
    dg_weights_close(w);
    unlink(path);
}

/* A field of the format, and where the example has it. */
struct spot {
    const char *field;
    size_t offset, size;
    bool by_verify; /* open does not read the data that it speaks of */
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

/* Put the header's checksum right again, so that the fields' own checks are met. */
static void reseal(unsigned char *bytes)
{
    uint64_t sum = dg_disk_header_checksum(bytes, 384);
    memcpy(bytes + 8, &sum, sizeof sum);
}

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

/* In memory of exactly that size, so that a sanitizer sees any read past it; and with the size that
 * is there claimed as the right one. */
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

static void names_are_checked(void **state)
{
    (void)state;
    unsigned char *bytes = example();
    struct dg_weights *w;
    struct dg_error err = {0};
    bytes[0x142] = 'w'; /* both tensors are called w */
    reseal(bytes);
    assert_int_equal(dg_weights_open_memory(bytes, EXAMPLE_BYTES, &w, &err), DG_EFORMAT);
    assert_string_equal(err.message, "tensor w: name is there twice");
    static const unsigned char wrong[] = {0, ' ', '\n', 0x7f, 0x80, 0xff};
    for (size_t i = 0; i < sizeof wrong; i++) {
        dg_error_clear(&err);
        bytes[0x142] = wrong[i];
        reseal(bytes);
        assert_int_equal(dg_weights_open_memory(bytes, EXAMPLE_BYTES, &w, &err), DG_EFORMAT);
        assert_string_equal(err.field, "name");
    }
    dg_error_clear(&err);
    bytes[0x142] = 'b';
    bytes[0x150] = 1; /* behind the names */
    reseal(bytes);
    assert_int_equal(dg_weights_open_memory(bytes, EXAMPLE_BYTES, &w, &err), DG_EFORMAT);
    assert_string_equal(err.field, "padding");
    free(bytes);
}

static void repeated_form_is_refused(void **state)
{
    (void)state;
    unsigned char *bytes = example();
    struct dg_weights *w;
    struct dg_error err = {0};
    bytes[0xc0] = DG_F32; /* form 1 as f32 rows, which form 0 is */
    reseal(bytes);
    assert_int_equal(dg_weights_open_memory(bytes, EXAMPLE_BYTES, &w, &err), DG_EFORMAT);
    assert_string_equal(err.field, "layout");
    free(bytes);
}

/* A layout of tomorrow is left out, whatever size it has; panels of 16 are known, and their size is
 * checked. */
static void unknown_layout_is_left_out(void **state)
{
    (void)state;
    struct dg_weights_writer *writer = example_writer();
    struct dg_error err = {0};
    struct dg_weights *w;
    float panels[16 * 3] = {1};
    size_t size;
    struct dg_stored future = {DG_BF16, (enum dg_layout)77, "future", NULL};
    struct dg_stored packed = {DG_F32, DG_LAYOUT_PANEL16, panels, NULL};
    assert_int_equal(dg_weights_writer_add_form(writer, "w", &future, 6, &err), 0);
    assert_int_equal(
        dg_weights_writer_add_form(writer, "w", &packed, sizeof panels - 4, &err), DG_EINVAL);
    dg_error_clear(&err);
    assert_int_equal(dg_weights_writer_add_form(writer, "w", &packed, sizeof panels, &err), 0);
    unsigned char *bytes = written(writer, &size);
    assert_int_equal(dg_weights_open_memory(bytes, size, &w, &err), 0);
    assert_int_equal(dg_weights_verify(w, &err), 0);
    const struct dg_tensor *t = dg_weights_find(w, "w");
    assert_int_equal(t->n_stored, 3);
    assert_int_equal(t->n_unknown, 1);
    assert_int_equal(t->stored[2].layout, DG_LAYOUT_PANEL16);
    assert_memory_equal(t->stored[2].data, panels, sizeof panels);
    dg_weights_close(w);
    free(bytes);
}

static void writer_refuses(void **state)
{
    (void)state;
    struct dg_weights_writer *w = example_writer();
    struct dg_stored s8 = {DG_S8, DG_LAYOUT_ROWS, w_s8, w_scales},
                     bare = {DG_S8, DG_LAYOUT_ROWS, w_s8, NULL};
    struct dg_stored odd = {DG_F32, DG_LAYOUT_ROWS, w_rows, w_scales};
    char name[300];
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    assert_int_equal(dg_weights_writer_add(w, "w", 2, 3, DG_F32, w_rows, NULL), DG_EINVAL);
    assert_int_equal(dg_weights_writer_add(w, "", 2, 3, DG_F32, w_rows, NULL), DG_EINVAL);
    assert_int_equal(dg_weights_writer_add(w, "a b", 2, 3, DG_F32, w_rows, NULL), DG_EINVAL);
    assert_int_equal(dg_weights_writer_add(w, name, 2, 3, DG_F32, w_rows, NULL), DG_EINVAL);
    assert_int_equal(dg_weights_writer_add(w, "c", 0, 3, DG_F32, w_rows, NULL), DG_EINVAL);
    assert_int_equal(dg_weights_writer_add(w, "c", 2, 0, DG_F16, w_rows, NULL), DG_EINVAL);
    assert_int_equal(dg_weights_writer_add(w, "c", UINT64_MAX, 2, DG_F16, w_rows, NULL), DG_EINVAL);
    assert_int_equal(
        dg_weights_writer_add(w, "c", 1u << 30, 1u << 30, DG_F32, w_rows, NULL), DG_EINVAL);
    assert_int_equal(dg_weights_writer_add(w, "c", 2, 3, DG_S8, w_rows, NULL), DG_EINVAL);
    assert_int_equal(dg_weights_writer_add_rows(w, "c", 2, 3, &bare, NULL), DG_EINVAL);
    assert_int_equal(dg_weights_writer_add_rows(w, "c", 2, 3, &odd, NULL), DG_EINVAL);
    assert_int_equal(dg_weights_writer_add_form(w, "c", &s8, 6, NULL), DG_ENOTFOUND);
    assert_int_equal(dg_weights_writer_add_form(w, "w", &s8, 6, NULL), DG_EINVAL);
    assert_int_equal(dg_weights_writer_add_form(w, "b", &s8, 6, NULL), DG_EINVAL);
    for (int layout = 100; layout < 106; layout++) {
        struct dg_stored f = {DG_F16, (enum dg_layout)layout, "xy", NULL};
        assert_int_equal(dg_weights_writer_add_form(w, "w", &f, 2, NULL), 0);
    }
    struct dg_stored ninth = {DG_F16, (enum dg_layout)106, "xy", NULL};
    assert_int_equal(dg_weights_writer_add_form(w, "w", &ninth, 2, NULL), DG_ELIMIT);
    assert_int_equal(dg_weights_writer_add_rows(w, "c", 2, 3, &s8, NULL), 0);
    size_t size;
    struct dg_weights *opened;
    unsigned char *bytes = written(w, &size); /* the refusals left nothing behind */
    assert_int_equal(dg_weights_open_memory(bytes, size, &opened, NULL), 0);
    assert_int_equal(dg_weights_count(opened), 3);
    assert_int_equal(dg_weights_find(opened, "c")->stored[0].type, DG_S8);
    dg_weights_close(opened);
    free(bytes);
    assert_int_equal(dg_weights_writer_open(&w, NULL), 0);
    assert_int_equal(dg_weights_writer_commit(w, temporary("none"), NULL), DG_EINVAL);
    assert_int_not_equal(access(temporary("none"), F_OK), 0);
    dg_weights_writer_close(w);
    dg_weights_writer_close(NULL);
    dg_weights_close(NULL);
}

static void many_tensors_are_found(void **state)
{
    (void)state;
    struct dg_weights_writer *writer;
    struct dg_weights *w;
    size_t size;
    assert_int_equal(dg_weights_writer_open(&writer, NULL), 0);
    for (int i = 0; i < 500; i++) {
        char name[32];
        float x = (float)i;
        snprintf(name, sizeof name, "t.%d", i * 7919 % 500);
        assert_int_equal(dg_weights_writer_add(writer, name, 1, 1, DG_F32, &x, NULL), 0);
    }
    unsigned char *bytes = written(writer, &size);
    assert_int_equal(dg_weights_open_memory(bytes, size, &w, NULL), 0);
    for (int i = 0; i < 500; i++) {
        char name[32];
        snprintf(name, sizeof name, "t.%d", i * 7919 % 500);
        assert_true(*(const float *)dg_weights_find(w, name)->stored[0].data == (float)i);
    }
    dg_weights_close(w);
    free(bytes);
}

/* Known values from the IEEE 754 tables; then, for many floats, that no other half is nearer, ties
 * to even. */
static void halves_round_to_nearest_even(void **state)
{
    (void)state;
    static const struct {
        float x;
        uint16_t f16, bf16;
    } known[] = {{0, 0, 0}, {-0.0f, 0x8000, 0x8000}, {1, 0x3c00, 0x3f80}, {-2, 0xc000, 0xc000},
        {65504, 0x7bff, 0x4780}, {65519.996f, 0x7bff, 0x4780}, {65520, 0x7c00, 0x4780},
        {1e10f, 0x7c00, 0x5015}, {0x1p-24f, 0x0001, 0x3380}, {0x1p-25f, 0x0000, 0x3300},
        {0x1.000002p-25f, 0x0001, 0x3300}, {0x1.8p-24f, 0x0002, 0x33c0}, {0x1p-14f, 0x0400, 0x3880},
        {0x1.ff8p-15f, 0x03ff, 0x3880}, {0x1.002p0f, 0x3c00, 0x3f80}, {0x1.006p0f, 0x3c02, 0x3f80},
        {0x1.01p0f, 0x3c04, 0x3f80}, {0x1.03p0f, 0x3c0c, 0x3f82}, {INFINITY, 0x7c00, 0x7f80},
        {-INFINITY, 0xfc00, 0xff80}, {3.4028235e38f, 0x7c00, 0x7f80}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (dg_f16_from_f32(known[i].x) != known[i].f16 ||
            dg_bf16_from_f32(known[i].x) != known[i].bf16)
            fail_msg("%a gives %04x and %04x, expected %04x and %04x", (double)known[i].x,
                dg_f16_from_f32(known[i].x), dg_bf16_from_f32(known[i].x), known[i].f16,
                known[i].bf16);
    }
    assert_true(isnan(dg_f16_to_f32(dg_f16_from_f32(NAN))));
    assert_true(isnan(dg_bf16_to_f32(dg_bf16_from_f32(NAN))));
    uint32_t seed = 12345;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 1664525u + 1013904223u;
        float x = ldexpf((float)(seed >> 8) / 0x1p24f, (int)(seed % 44) - 26);
        uint16_t h = dg_f16_from_f32(x);
        if (h >= 0x7bff)
            continue;
        double down = fabs((double)x - (h ? (double)dg_f16_to_f32((uint16_t)(h - 1)) : 0));
        double here = fabs((double)x - (double)dg_f16_to_f32(h));
        double up = fabs((double)x - (double)dg_f16_to_f32((uint16_t)(h + 1)));
        assert_true(here < up || (here == up && h % 2 == 0));
        assert_true(h == 0 || here < down || (here == down && h % 2 == 0));
    }
}

static void every_half_survives(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        if (!isnan(dg_f16_to_f32((uint16_t)h)))
            assert_int_equal(dg_f16_from_f32(dg_f16_to_f32((uint16_t)h)), h);
        if (!isnan(dg_bf16_to_f32((uint16_t)h)))
            assert_int_equal(dg_bf16_from_f32(dg_bf16_to_f32((uint16_t)h)), h);
    }
    assert_true(dg_f16_to_f32(0x0001) == 0x1p-24f && dg_f16_to_f32(0x8400) == -0x1p-14f);
    assert_true(dg_f16_to_f32(0x3555) == 0x1.554p-2f && dg_bf16_to_f32(0x3eab) == 0x1.56p-2f);
}

/* [rows,1024] of fp32 i, so that each tensor has pages of its own. */
static void add_large(struct dg_weights_writer *w, const char *name, float value)
{
    enum { ROWS = 64, COLUMNS = 1024 };
    struct dg_error err = {0};
    float *rows = malloc(ROWS * COLUMNS * sizeof *rows);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        rows[i] = value;
    assert_int_equal(dg_weights_writer_add(w, name, ROWS, COLUMNS, DG_F32, rows, &err), 0);
    free(rows);
}

/* What was loaded is ours: the file may be cut short, and what nobody keeps is let go of. */
static void loaded_is_ours(void **state)
{
    struct dg_weights_writer *writer;
    struct dg_weights *w;
    struct dg_error err = {0};
    char path[256];
    (void)state;
    snprintf(path, sizeof path, "%s", temporary("loaded.dgw"));
    assert_int_equal(dg_weights_writer_open(&writer, &err), 0);
    add_large(writer, "a", 1);
    add_large(writer, "b", 2);
    assert_int_equal(dg_weights_writer_commit(writer, path, &err), 0);
    dg_weights_writer_close(writer);
    assert_int_equal(dg_weights_load(path, &w, &err), 0);
    assert_true(dg_weights_load_seconds(w) > 0);
    assert_int_equal(truncate(path, 0), 0);
    const struct dg_tensor *a = dg_weights_find(w, "a"), *b = dg_weights_find(w, "b");
    const float *kept = b->stored[0].data;
    const volatile float *let_go = a->stored[0].data;
    dg_weights_keep(w, kept);
    dg_weights_trim(w);
    assert_null(a->stored[0].data);
    assert_ptr_equal(b->stored[0].data, kept);
    for (size_t i = 0; i < 64 * 1024; i++)
        assert_true(kept[i] == 2);
    assert_true(let_go[32 * 1024] == 0); /* the page is not there any more */
    assert_int_equal(dg_weights_verify(w, &err), 0);
    dg_weights_close(w);
    assert_int_equal(dg_weights_load(path, &w, &err), DG_EFORMAT);
    unlink(path);
}

/* One bit of any tensor's data: loading refuses what opening does not look at. */
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
        cmocka_unit_test(format_md_example_is_what_the_writer_writes),
        cmocka_unit_test(example_reads_back),
        cmocka_unit_test(every_field_is_refused_by_name),
        cmocka_unit_test(every_flipped_header_bit_is_refused),
        cmocka_unit_test(every_flipped_block_bit_is_found_by_verify),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(longer_file_is_refused),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(repeated_form_is_refused),
        cmocka_unit_test(unknown_layout_is_left_out),
        cmocka_unit_test(writer_refuses),
        cmocka_unit_test(many_tensors_are_found),
        cmocka_unit_test(halves_round_to_nearest_even),
        cmocka_unit_test(every_half_survives),
        cmocka_unit_test(loaded_is_ours),
        cmocka_unit_test(loading_checks_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
