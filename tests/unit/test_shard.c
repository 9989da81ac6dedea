#include "trainer/data/shard.h"

#include "base/buffer.h"
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test_shard_XXXXXX";
static char path[64];

static int make(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.shard", folder);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    remove(path);
    return rmdir(folder);
}

/* Writes pairs: pair i has i % 7 + 1 source ids and i % 5 + 1 target ids, all below `vocab`. */
static void write_pairs(uint32_t vocab, uint32_t n, struct dg_shard_info *info)
{
    struct dg_shard_writer *w;
    struct dg_error err = {0};
    int32_t source[8], target[8];
    assert_int_equal(dg_shard_begin(path, vocab, vocab, &w, &err), 0);
    for (uint32_t i = 0; i < n; i++) {
        struct dg_shard_entry e = {
            0, i % 7 + 1, i % 5 + 1, 0.5f * (float)i, (uint16_t)(i % 3), (uint16_t)i};
        for (uint32_t j = 0; j < 8; j++) {
            source[j] = (int32_t)((i * 31 + j) % vocab);
            target[j] = (int32_t)((i * 17 + j + 5) % vocab);
        }
        assert_int_equal(dg_shard_add(w, &e, source, target, &err), 0);
    }
    assert_int_equal(dg_shard_commit_take(w, info, &err), 0);
}

static void check_pairs(uint32_t vocab, uint32_t n, uint32_t id_bytes)
{
    struct dg_shard *s;
    struct dg_error err = {0};
    int32_t source[8], target[8];
    assert_int_equal(dg_shard_open(path, &s, &err), 0);
    assert_int_equal(dg_shard_verify(s, &err), 0);
    assert_int_equal(dg_shard_info(s)->sentences, n);
    assert_int_equal(dg_shard_info(s)->id_bytes, id_bytes);
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct dg_shard_entry *e = &dg_shard_entries(s)[i];
        assert_int_equal(e->source_len, i % 7 + 1);
        assert_int_equal(e->target_len, i % 5 + 1);
        assert_int_equal(e->begin, tokens);
        assert_true(e->weight == 0.5f * (float)i);
        assert_int_equal(e->direction, i % 3);
        assert_int_equal(e->domain, i);
        tokens += e->source_len + e->target_len;
        dg_shard_ids(s, i, source, NULL);
        dg_shard_ids(s, i, NULL, target);
        for (uint32_t j = 0; j < e->source_len; j++)
            assert_int_equal(source[j], (i * 31 + j) % vocab);
        for (uint32_t j = 0; j < e->target_len; j++)
            assert_int_equal(target[j], (i * 17 + j + 5) % vocab);
    }
    dg_shard_close(s);
}

static void test_back_and_forth(void **state)
{
    (void)state;
    struct dg_shard_info info;
    write_pairs(65536, 1001, &info);
    assert_int_equal(info.id_bytes, 2);
    check_pairs(65536, 1001, 2);
    write_pairs(65537, 1000, &info); /* one piece more than 16 bits hold */
    check_pairs(65537, 1000, 4);
    write_pairs(10, 0, &info);
    check_pairs(10, 0, 2);
}

static void test_a_writer_that_stops_leaves_the_old_file(void **state)
{
    (void)state;
    struct dg_shard_writer *w;
    struct dg_error err = {0};
    int32_t id = 1;
    struct dg_shard_entry e = {0, 1, 1, 1, 0, 0};
    write_pairs(100, 50, NULL);
    assert_int_equal(dg_shard_begin(path, 100, 100, &w, &err), 0);
    assert_int_equal(dg_shard_add(w, &e, &id, &id, &err), 0);
    dg_shard_abort(w);
    check_pairs(100, 50, 2);
}

/* Writes without dg_file_write's sync: it runs some thousand times. */
static void write_plain(const char *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Open or verify notices any changed byte and any truncation. */
static void test_damage_is_found(void **state)
{
    (void)state;
    struct dg_buffer good;
    write_pairs(100, 9, NULL);
    dg_buffer_init(&good);
    assert_int_equal(dg_file_read(path, &good, NULL), 0);
    for (size_t i = 0; i < 2 * good.len; i++) {
        struct dg_shard *s = NULL;
        struct dg_error err = {0};
        bool cut = i >= good.len;
        if (!cut && i >= 8 && i < 64)
            continue; /* unused zeros */
        if (!cut)
            good.data[i] ^= 0x40;
        write_plain(good.data, cut ? i - good.len : good.len);
        if (!cut)
            good.data[i] ^= 0x40;
        int rc = dg_shard_open(path, &s, &err);
        if (rc == 0)
            rc = dg_shard_verify(s, &err);
        dg_shard_close(s);
        if (rc != DG_EFORMAT || !err.message[0])
            fail_msg("%s at byte %zu was not found: %d", cut ? "a cut" : "a change",
                cut ? i - good.len : i, rc);
    }
    dg_buffer_deinit(&good);
}

static void test_ids_outside_the_vocabulary_are_found(void **state)
{
    (void)state;
    struct dg_shard_writer *w;
    struct dg_shard *s;
    struct dg_error err = {0};
    int32_t good = 4, bad = 5;
    struct dg_shard_entry e = {0, 1, 1, 1, 0, 0};
    assert_int_equal(dg_shard_begin(path, 5, 5, &w, &err), 0);
    assert_int_equal(dg_shard_add(w, &e, &good, &bad, &err), 0);
    assert_int_equal(dg_shard_commit_take(w, NULL, &err), 0);
    assert_int_equal(dg_shard_open(path, &s, &err), 0);
    assert_int_equal(dg_shard_verify(s, &err), DG_EFORMAT);
    assert_string_equal(err.field, "id");
    dg_shard_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_back_and_forth),
        cmocka_unit_test(test_a_writer_that_stops_leaves_the_old_file),
        cmocka_unit_test(test_damage_is_found),
        cmocka_unit_test(test_ids_outside_the_vocabulary_are_found),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
