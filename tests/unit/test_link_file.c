/* Alignments stored beside a shard: they read back as written; any damage and another shard are
 * refused. */
#include "base/file.h"
#include "trainer/data/link_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/test_link_file_XXXXXX";
static char shard_path[64], links_path[64], other_path[64];

static const struct dg_link first[] = {{0, 1}, {0, 2}, {2, 0}}, third[] = {{1, 1}};

static void write_shard(const char *name, int32_t id)
{
    struct dg_shard_writer *w = NULL;
    struct dg_error err = {0};
    const int32_t source[3] = {id, 5, 0}, target[3] = {7, 8, 0};
    const struct dg_shard_entry e = {0, 3, 3, 1, 0, 0};
    assert_int_equal(dg_shard_begin(name, 10, 10, &w, &err), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(dg_shard_add(w, &e, source, target, &err), 0);
    assert_int_equal(dg_shard_commit_take(w, NULL, &err), 0);
}

static struct dg_shard *open_shard(const char *name)
{
    struct dg_shard *s = NULL;
    assert_int_equal(dg_shard_open(name, &s, NULL), 0);
    return s;
}

static void write_links(const struct dg_link *last, size_t n)
{
    struct dg_shard *s = open_shard(shard_path);
    struct dg_link_file_writer *w = NULL;
    struct dg_link_info info;
    struct dg_error err = {0};
    assert_int_equal(dg_link_file_begin(links_path, &w, &err), 0);
    assert_int_equal(dg_link_file_add(w, first, 3, &err), 0);
    assert_int_equal(dg_link_file_add(w, NULL, 0, &err), 0);
    assert_int_equal(dg_link_file_add(w, last, n, &err), 0);
    assert_int_equal(dg_link_file_commit_take(w, s, &info, &err), 0);
    assert_int_equal(info.sentences, 3);
    assert_int_equal(info.links, 3 + n);
    dg_shard_close(s);
}

static int make(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(shard_path, sizeof shard_path, "%s/a.shard", folder);
    snprintf(other_path, sizeof other_path, "%s/b.shard", folder);
    snprintf(links_path, sizeof links_path, "%s/a.links", folder);
    write_shard(shard_path, 4);
    write_shard(other_path, 6);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    unlink(shard_path);
    unlink(other_path);
    unlink(links_path);
    return rmdir(folder);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct dg_shard *s = open_shard(shard_path);
    struct dg_link_file *f = NULL;
    struct dg_error err = {0};
    size_t n;
    write_links(third, 1);
    if (dg_link_file_open(links_path, s, &f, &err))
        fail_msg("%s", err.message);
    assert_memory_equal(dg_link_file_links(f, 0, &n), first, sizeof first);
    assert_int_equal(n, 3);
    dg_link_file_links(f, 1, &n);
    assert_int_equal(n, 0);
    assert_memory_equal(dg_link_file_links(f, 2, &n), third, sizeof third);
    assert_int_equal(n, 1);
    dg_link_file_close(f);
    dg_shard_close(s);
}

static void expect_refused(const char *shard, const char *field)
{
    struct dg_shard *s = open_shard(shard);
    struct dg_link_file *f = NULL;
    struct dg_error err = {0};
    assert_int_equal(dg_link_file_open(links_path, s, &f, &err), DG_EFORMAT);
    assert_null(f);
    assert_string_equal(err.field, field);
    dg_shard_close(s);
}

static void test_other_shard(void **state)
{
    (void)state;
    write_links(third, 1);
    expect_refused(other_path, "shard");
}

/* Wrongly written files: the reader trusts no writer. */
static void test_out_of_range(void **state)
{
    (void)state;
    static const struct dg_link wrong[][2] = {{{0, 0}, {3, 0}}, {{0, 0}, {1, 3}}, {{2, 0}, {1, 0}}};
    for (size_t i = 0; i < 3; i++) {
        write_links(wrong[i], 2);
        expect_refused(shard_path, "links");
    }
}

/* A changed byte in magic, index or footer, and a truncated file. Only their checksum covers the
 * links themselves, as with a shard's ids. */
static void test_damage(void **state)
{
    (void)state;
    struct dg_shard *s = open_shard(shard_path);
    struct dg_buffer good;
    struct dg_link_file *f = NULL;
    dg_buffer_init(&good);
    write_links(third, 1);
    assert_int_equal(dg_file_read(links_path, &good, NULL), 0);
    for (size_t i = 0; i < good.len; i++) {
        if (i >= 8 && i < 64 + 4 * sizeof(struct dg_link))
            continue;
        good.data[i] ^= 0x11;
        assert_int_equal(dg_file_write(links_path, good.data, good.len, NULL), 0);
        if (dg_link_file_open(links_path, s, &f, NULL) != DG_EFORMAT)
            fail_msg("byte %zu of %zu does not matter", i, good.len);
        good.data[i] ^= 0x11;
    }
    for (size_t n = 0; n < good.len; n += 7) {
        assert_int_equal(dg_file_write(links_path, good.data, n, NULL), 0);
        assert_int_equal(dg_link_file_open(links_path, s, &f, NULL), DG_EFORMAT);
    }
    dg_buffer_deinit(&good);
    dg_shard_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_other_shard), cmocka_unit_test(test_out_of_range),
        cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, make, clear);
}
