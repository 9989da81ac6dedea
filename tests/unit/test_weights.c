/* The weights file: FORMAT.md's example byte for byte, names and forms that are refused, the
 * writer, and that loaded weights belong to the process. */
#include "tests/unit/weights_example.h"
#include "base/buffer.h"

/* Reads the bytes between ```hex and ```: an offset, then 16 bytes a line, then a note. */
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

static void names_are_checked(void **state)
{
    (void)state;
    unsigned char *bytes = example();
    struct dg_weights *w;
    struct dg_error err = {0};
    bytes[0x142] = 'w'; /* both tensors are named w */
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
    bytes[0x150] = 1; /* after the names */
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
    bytes[0xc0] = DG_F32; /* form 1 as f32 rows, like form 0 */
    reseal(bytes);
    assert_int_equal(dg_weights_open_memory(bytes, EXAMPLE_BYTES, &w, &err), DG_EFORMAT);
    assert_string_equal(err.field, "layout");
    free(bytes);
}

/* An unknown later layout is skipped, whatever its size; panels of 16 are known, and their size is
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
    unsigned char *bytes = written(w, &size); /* the refused calls left nothing behind */
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

/* Size of a tensor that has pages of its own. */
enum { ROWS = 64, COLUMNS = 1024 };

static void add_large(struct dg_weights_writer *w, const char *name, float value)
{
    struct dg_error err = {0};
    float *rows = malloc(ROWS * COLUMNS * sizeof *rows);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        rows[i] = value;
    assert_int_equal(dg_weights_writer_add(w, name, ROWS, COLUMNS, DG_F32, rows, &err), 0);
    free(rows);
}

/* Loaded weights are ours: the file may be truncated, and memory that nobody keeps is released. */
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
    dg_weights_spent(w, kept, ROWS * COLUMNS * sizeof *kept);
    dg_weights_release(w, b);
    dg_weights_release(w, a);
    assert_null(a->stored[0].data);
    assert_ptr_equal(b->stored[0].data, kept);
    for (size_t i = 0; i < 64 * 1024; i++)
        assert_true(kept[i] == 2);
    assert_true(let_go[32 * 1024] == 0); /* the page has been released */
    assert_int_equal(dg_weights_verify(w, &err), 0);
    dg_weights_close(w);
    assert_int_equal(dg_weights_load(path, &w, &err), DG_EFORMAT);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(format_md_example_is_what_the_writer_writes),
        cmocka_unit_test(example_reads_back),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(repeated_form_is_refused),
        cmocka_unit_test(unknown_layout_is_left_out),
        cmocka_unit_test(writer_refuses),
        cmocka_unit_test(many_tensors_are_found),
        cmocka_unit_test(loaded_is_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
