/* Checkpoints: a partial one is never read, a complete one is never lost. */
#include "tests/unit/checkpoint_files.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

static void write_one(const char *path, uint64_t step, bool ema)
{
    struct dg_error err = {0};
    struct dg_json *r = recipe();
    struct dg_checkpoint_state s = state_at(step, r);
    struct dg_checkpoint_blocks b = blocks(ema);
    if (dg_checkpoint_write(path, &s, &b, &err))
        fail_msg("%s", err.message);
    dg_json_free(r);
}

static void test_roundtrip(void **state)
{
    (void)state;
    for (int ema = 0; ema < 2; ema++) {
        char path[128];
        struct dg_checkpoint *c = NULL;
        struct dg_error err = {0};
        path_of(path, "a.ckpt");
        write_one(path, 1234567, ema);
        assert_int_equal(dg_checkpoint_open(path, &c, &err), 0);
        assert_int_equal(c->state.step, 1234567);
        assert_int_equal(c->state.position.epoch, 2);
        assert_int_equal(c->state.position.cursor, 7);
        assert_int_equal(c->state.position.batch, 1234567);
        assert_int_equal(c->state.micro_tokens, 4096);
        assert_int_equal(c->state.threads, 2);
        assert_int_equal(c->state.epoch_tokens, 99);
        assert_string_equal(c->state.backend, "cpu/avx2");
        assert_string_equal(c->state.data, "0123456789abcdef0123456789abcdef");
        assert_float_equal(c->state.seconds, 12.5, 0);
        assert_int_equal(
            dg_json_int(dg_json_get(dg_json_get(c->state.recipe, "training"), "seed")), 3);
        assert_int_equal(c->blocks.n, N);
        assert_memory_equal(c->blocks.params, values[0], sizeof values[0]);
        assert_memory_equal(c->blocks.m, values[1], sizeof values[0]);
        assert_memory_equal(c->blocks.v, values[2], sizeof values[0]);
        assert_true(!c->blocks.ema == !ema);
        if (ema)
            assert_memory_equal(c->blocks.ema, values[3], sizeof values[0]);
        dg_checkpoint_close(c);
    }
}

/* Every length that is too short, and every wrong byte except in the padding, is detected. */
static void test_damage(void **state)
{
    (void)state;
    char path[128], bad[128];
    struct dg_map map = {0};
    struct dg_error err = {0};
    path_of(path, "a.ckpt");
    path_of(bad, "bad.ckpt");
    write_one(path, 5, true);
    assert_int_equal(dg_file_map(path, &map, &err), 0);
    unsigned char *copy = malloc(map.size + 1);
    uint64_t header;
    memcpy(&header, map.data + 8, sizeof header);
    size_t blocks_at = 64 + (header + 63) / 64 * 64;
    for (size_t at = 0; at < map.size; at += at < blocks_at ? 1 : 997) {
        struct dg_checkpoint *c = NULL;
        bool padding = (at >= 24 && at < 64) || (at >= 64 + header && at < blocks_at) ||
                       (at >= blocks_at && (at - blocks_at) % 4032 >= N * sizeof(float));
        memcpy(copy, map.data, map.size);
        copy[at] ^= 0x40;
        assert_int_equal(dg_file_write(bad, copy, map.size, &err), 0);
        if (dg_checkpoint_open(bad, &c, NULL) == 0 && !padding)
            fail_msg("a wrong byte %zu of %zu was not noticed", at, map.size);
        dg_checkpoint_close(c);
        assert_int_equal(dg_file_write(bad, map.data, at, &err), 0);
        assert_int_not_equal(dg_checkpoint_open(bad, &c, NULL), 0);
    }
    memcpy(copy, map.data, map.size);
    copy[map.size] = 0;
    assert_int_equal(dg_file_write(bad, copy, map.size + 1, &err), 0);
    struct dg_checkpoint *c = NULL;
    assert_int_equal(dg_checkpoint_open(bad, &c, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "1 bytes too many"));
    dg_file_unmap(&map);
    free(copy);
}

/* On a full disk the write fails, and the old checkpoint and the marker stay; later there is room
 * again. */
static void test_full_disk(void **state)
{
    (void)state;
    struct rlimit before, small = {6000, 6000};
    struct dg_checkpoint_dir *k = NULL;
    struct dg_checkpoint *c = NULL;
    struct dg_error err = {0};
    size_t damaged = 0;
    assert_int_equal(dg_checkpoint_dir_open(folder, 1, 0, &k, &err), 0);
    assert_int_equal(add(k, 1, NAN, &err), 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    int rc = add(k, 2, NAN, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(rc, DG_EIO);
    assert_true(exists(k, 1) && !exists(k, 2));
    dg_checkpoint_dir_close(k);
    dg_error_clear(&err);
    assert_int_equal(dg_checkpoint_dir_open(folder, 1, 0, &k, &err), 0);
    assert_int_equal(dg_checkpoint_dir_newest(k, &c, &damaged, &err), 0);
    assert_int_equal(c->state.step, 1);
    dg_checkpoint_close(c);
    assert_int_equal(add(k, 3, NAN, &err), 0);
    assert_true(!exists(k, 1) && exists(k, 3));
    dg_checkpoint_dir_close(k);
}

/* Leftovers of a killed process are removed, the checkpoint that the marker names is not. */
static void test_left_overs(void **state)
{
    (void)state;
    char stale[2][128];
    struct dg_checkpoint_dir *k = NULL;
    struct dg_error err = {0};
    path_of(stale[0], "00000009.ckpt");
    path_of(stale[1], "00000009.ckpt.tmp-123-abc");
    assert_int_equal(dg_checkpoint_dir_open(folder, 2, 0, &k, &err), 0);
    assert_int_equal(add(k, 1, NAN, &err), 0);
    for (int i = 0; i < 2; i++)
        close(open(stale[i], O_CREAT | O_WRONLY, 0600));
    dg_checkpoint_dir_clean(k);
    assert_true(exists(k, 1));
    assert_int_equal(access(stale[0], F_OK), -1);
    assert_int_equal(access(stale[1], F_OK), -1);
    dg_checkpoint_dir_close(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_roundtrip), TEST(test_damage), TEST(test_full_disk), TEST(test_left_overs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
