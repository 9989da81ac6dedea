/* Checkpoints and the folder that keeps them: nothing half-written is ever read, nothing whole is
 * ever lost. */
#include "trainer/run/checkpoint.h"
#include "trainer/run/checkpoint_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 1000 };

static char folder[64];
static float values[4][N];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_checkpoint_XXXXXX");
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < N; i++)
            values[b][i] = (float)(b * 7919 + i) / 3;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
    return rmdir(folder);
}

static struct dg_json *recipe(void)
{
    return dg_json_parse("{\"training\":{\"seed\":3}}", 23, NULL);
}

static struct dg_checkpoint_state state_at(uint64_t step, const struct dg_json *r)
{
    return (struct dg_checkpoint_state){.step = step,
        .position = {2, 7, step},
        .micro_tokens = 4096,
        .threads = 2,
        .backend = "cpu/avx2",
        .data = "0123456789abcdef0123456789abcdef",
        .epoch_tokens = 99,
        .seconds = 12.5,
        .recipe = r};
}

static struct dg_checkpoint_blocks blocks(bool ema)
{
    return (struct dg_checkpoint_blocks){
        N, values[0], values[1], values[2], ema ? values[3] : NULL};
}

static void path_of(char out[128], const char *name)
{
    snprintf(out, 128, "%s/%s", folder, name);
}

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

/* Every length that is too short, and every byte that is wrong but in the padding, is noticed. */
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

static int keep(
    struct dg_checkpoint_dir *k, uint64_t step, enum dg_kept_kind kind, struct dg_error *err)
{
    struct dg_json *r = recipe();
    struct dg_checkpoint_state s = state_at(step, r);
    struct dg_checkpoint_blocks b = blocks(false);
    int rc = dg_checkpoint_dir_add(k, &s, &b, kind, err);
    dg_json_free(r);
    return rc;
}

static int add(struct dg_checkpoint_dir *k, uint64_t step, float score, struct dg_error *err)
{
    int rc = keep(k, step, DG_KEPT_DUE, err);
    return rc || isnan(score) ? rc : dg_checkpoint_dir_score(k, step, score, err);
}

static bool exists(const struct dg_checkpoint_dir *k, uint64_t step)
{
    char *path = dg_checkpoint_dir_path(k, step);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

static void test_keeping(void **state)
{
    (void)state;
    static const float scores[] = {10, NAN, 30, 20, 30, NAN, 5, 6};
    struct dg_checkpoint_dir *k = NULL;
    struct dg_error err = {0};
    uint64_t steps[8];
    for (int again = 0; again < 2; again++) { /* what is read back is what was kept */
        assert_int_equal(dg_checkpoint_dir_open(folder, 2, 2, &k, &err), 0);
        for (uint64_t i = 0; i < 8 && !again; i++)
            assert_int_equal(add(k, 100 * (i + 1), scores[i], &err), 0);
        /* The last two, and the best two: 300 and 500, both 30. */
        for (uint64_t i = 1; i <= 8; i++)
            assert_int_equal(exists(k, 100 * i), i == 3 || i == 5 || i == 7 || i == 8);
        assert_int_equal(dg_checkpoint_dir_last(k, 3, steps), 3);
        assert_true(steps[0] == 500 && steps[1] == 700 && steps[2] == 800);
        assert_int_equal(dg_checkpoint_dir_best(k, 1, steps), 1);
        assert_int_equal(steps[0], 500);
        assert_int_equal(dg_checkpoint_dir_best(k, 3, steps), 3);
        assert_true(steps[0] == 300 && steps[1] == 500 && steps[2] == 800);
        assert_float_equal(k->best, 30, 0);
        assert_int_equal(k->bad, 4); /* 20, 30 (no better), 5, 6 */
        dg_checkpoint_dir_close(k);
    }
}

/* Those that were not due are no part of an average of the last and push none of them out; the
 * newest is there to go on from, and one with a good score stays for it. */
static void test_extra(void **state)
{
    (void)state;
    struct dg_checkpoint_dir *k = NULL;
    struct dg_checkpoint *c = NULL;
    struct dg_error err = {0};
    size_t damaged;
    uint64_t steps[4];
    assert_int_equal(dg_checkpoint_dir_open(folder, 2, 1, &k, &err), 0);
    assert_int_equal(keep(k, 5, DG_KEPT_EXTRA, &err), 0);
    assert_int_equal(dg_checkpoint_dir_last(k, 2, steps), 1); /* all there is */
    assert_int_equal(steps[0], 5);
    assert_int_equal(add(k, 10, NAN, &err), 0);
    assert_false(exists(k, 5));
    assert_int_equal(add(k, 20, 7, &err), 0);
    assert_int_equal(keep(k, 21, DG_KEPT_EXTRA, &err), 0);
    assert_int_equal(dg_checkpoint_dir_score(k, 21, 9, &err), 0);
    assert_int_equal(keep(k, 22, DG_KEPT_EXTRA, &err), 0);
    assert_int_equal(dg_checkpoint_dir_score(k, 22, 9, &err), 0); /* counts, and is no better */
    assert_int_equal(k->bad, 1);
    for (int again = 0; again < 2; again++) { /* what is read back is what was kept */
        assert_true(exists(k, 10) && exists(k, 20) && exists(k, 21) && exists(k, 22));
        assert_int_equal(dg_checkpoint_dir_last(k, 2, steps), 2);
        assert_true(steps[0] == 10 && steps[1] == 20);
        assert_int_equal(dg_checkpoint_dir_best(k, 2, steps), 2);
        assert_true(steps[0] == 20 && steps[1] == 21 && k->best_step == 21);
        assert_int_equal(dg_checkpoint_dir_newest(k, &c, &damaged, &err), 0);
        assert_int_equal(c->state.step, 22);
        dg_checkpoint_close(c);
        dg_checkpoint_dir_close(k);
        assert_int_equal(dg_checkpoint_dir_open(folder, 2, 1, &k, &err), 0);
    }
    assert_int_equal(add(k, 30, NAN, &err), 0);
    assert_true(!exists(k, 10) && exists(k, 20) && exists(k, 21) && !exists(k, 22));
    dg_checkpoint_dir_close(k);
}

/* A run that was killed goes back to its last checkpoint and validates again what it had: no reason
 * to lose patience earlier. */
static void test_validated_again(void **state)
{
    (void)state;
    struct dg_checkpoint_dir *k = NULL;
    struct dg_error err = {0};
    assert_int_equal(dg_checkpoint_dir_open(folder, 2, 0, &k, &err), 0);
    for (int i = 0; i < 100; i++) { /* scores of any digits: read back they are what they were */
        const float score = -4.5f - (float)i / 7;
        const uint64_t step = 30 * (uint64_t)i;
        k->best = NAN;
        assert_int_equal(dg_checkpoint_dir_score(k, step + 10, score, &err), 0);
        assert_int_equal(dg_checkpoint_dir_score(k, step + 20, score, &err), 0);
        assert_int_equal(k->bad, 1);
        dg_checkpoint_dir_close(k);
        assert_int_equal(dg_checkpoint_dir_open(folder, 2, 0, &k, &err), 0);
        assert_int_equal(dg_checkpoint_dir_score(k, step + 10, score, &err), 0);
        assert_int_equal(dg_checkpoint_dir_score(k, step + 20, score, &err), 0);
        assert_int_equal(k->bad, 1);
        assert_int_equal(dg_checkpoint_dir_score(k, step + 30, score, &err), 0);
        assert_int_equal(k->bad, 2);
    }
    dg_checkpoint_dir_close(k);
}

/* As programs wrote it that knew neither "extra" nor "validated" nor "best_step". */
static void test_earlier_index(void **state)
{
    (void)state;
    static const char text[] =
        "{\"checkpoints\":[{\"step\":4,\"score\":null},{\"step\":8,\"score\":3}],"
        "\"best\":3,\"bad\":1}";
    char path[128];
    struct dg_checkpoint_dir *k = NULL;
    struct dg_error err = {0};
    uint64_t steps[2];
    path_of(path, "index.json");
    assert_int_equal(dg_file_write(path, text, strlen(text), &err), 0);
    assert_int_equal(dg_checkpoint_dir_open(folder, 2, 0, &k, &err), 0);
    assert_int_equal(dg_checkpoint_dir_last(k, 2, steps), 2);
    assert_true(k->best == 3 && k->bad == 1 && k->validated == 0 && k->best_step == 0);
    dg_checkpoint_dir_close(k);
}

/* Of a run that diverged: the newest, unless it is the only one, or of another step. */
static void test_forgetting(void **state)
{
    (void)state;
    struct dg_checkpoint_dir *k = NULL;
    struct dg_error err = {0};
    assert_int_equal(dg_checkpoint_dir_open(folder, 2, 0, &k, &err), 0);
    assert_int_equal(dg_checkpoint_dir_forget(k, 1, &err), 0);
    assert_int_equal(add(k, 1, NAN, &err), 0);
    assert_int_equal(dg_checkpoint_dir_forget(k, 1, &err), 0);
    assert_int_equal(add(k, 2, NAN, &err), 0);
    assert_int_equal(dg_checkpoint_dir_forget(k, 1, &err), 0);
    assert_true(exists(k, 1) && exists(k, 2));
    assert_int_equal(dg_checkpoint_dir_forget(k, 2, &err), 0);
    assert_true(exists(k, 1) && !exists(k, 2));
    dg_checkpoint_dir_close(k);
    assert_int_equal(dg_checkpoint_dir_open(folder, 2, 0, &k, &err), 0);
    assert_true(dg_checkpoint_dir_has(k, 1) && !dg_checkpoint_dir_has(k, 2));
    dg_checkpoint_dir_close(k);
}

static void damage(const struct dg_checkpoint_dir *k, uint64_t step)
{
    char *path = dg_checkpoint_dir_path(k, step);
    assert_int_equal(truncate(path, 3000), 0);
    free(path);
}

static void test_newest(void **state)
{
    (void)state;
    struct dg_checkpoint_dir *k = NULL;
    struct dg_checkpoint *c = NULL;
    struct dg_error err = {0};
    size_t damaged = 0;
    assert_int_equal(dg_checkpoint_dir_open(folder, 3, 0, &k, &err), 0);
    assert_int_equal(dg_checkpoint_dir_newest(k, &c, &damaged, &err), DG_ENOTFOUND);
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(add(k, i, NAN, &err), 0);
    damage(k, 3);
    dg_error_clear(&err);
    assert_int_equal(dg_checkpoint_dir_newest(k, &c, &damaged, &err), 0);
    assert_int_equal(c->state.step, 2);
    assert_int_equal(damaged, 1);
    dg_checkpoint_close(c);
    damage(k, 2);
    damage(k, 1);
    assert_int_equal(dg_checkpoint_dir_newest(k, &c, &damaged, &err), DG_ENOTFOUND);
    assert_non_null(strstr(err.message, "whole"));
    dg_checkpoint_dir_close(k);
}

/* Damaged ones that were fallen back from are not named, averaged or kept any more; scores count
 * on. A file that cannot be read is not taken for damaged, nor is anything removed for it. */
static void test_going_on(void **state)
{
    (void)state;
    struct dg_checkpoint_dir *k = NULL;
    struct dg_checkpoint *c = NULL;
    struct dg_error err = {0};
    size_t damaged = 0;
    uint64_t step;
    assert_int_equal(dg_checkpoint_dir_open(folder, 2, 2, &k, &err), 0);
    assert_int_equal(add(k, 4, 1, &err), 0);
    assert_int_equal(keep(k, 6, DG_KEPT_EXTRA, &err), 0);
    assert_int_equal(dg_checkpoint_dir_score(k, 6, 2, &err), 0);
    assert_int_equal(add(k, 8, 1, &err), 0);
    damage(k, 8);
    damage(k, 6);
    assert_int_equal(dg_checkpoint_dir_newest(k, &c, &damaged, &err), 0);
    assert_int_equal(c->state.step, 4);
    dg_checkpoint_close(c);
    dg_checkpoint_dir_go_on(k, 4);
    dg_checkpoint_dir_clean(k);
    assert_true(exists(k, 4) && !exists(k, 6) && !exists(k, 8) && !dg_checkpoint_dir_has(k, 6));
    assert_int_equal(dg_checkpoint_dir_best(k, 1, &step), 1);
    assert_int_equal(step, 4);
    assert_true(k->best == 2 && k->best_step == 6 && k->bad == 1 && k->validated == 8);

    char *path = dg_checkpoint_dir_path(k, 12);
    assert_int_equal(add(k, 12, NAN, &err), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    dg_error_clear(&err);
    assert_int_equal(dg_checkpoint_dir_newest(k, &c, &damaged, &err), DG_EIO);
    assert_non_null(strstr(err.message, "00000012.ckpt"));
    assert_int_equal(rmdir(path), 0);
    free(path);
    dg_checkpoint_dir_go_on(k, 0);
    assert_true(!k->n && isnan(k->best) && !k->best_step && !k->bad && !k->validated);
    dg_checkpoint_dir_close(k);
}

/* A run that went back to an older checkpoint writes newer steps again. */
static void test_going_back(void **state)
{
    (void)state;
    struct dg_checkpoint_dir *k = NULL;
    struct dg_error err = {0};
    assert_int_equal(dg_checkpoint_dir_open(folder, 9, 0, &k, &err), 0);
    for (uint64_t i = 1; i <= 4; i++)
        assert_int_equal(add(k, 10 * i, NAN, &err), 0);
    assert_int_equal(add(k, 30, NAN, &err), 0);
    assert_int_equal(k->n, 3);
    assert_true(exists(k, 30) && !exists(k, 40));
    dg_checkpoint_dir_close(k);
}

/* The disk is full: the write fails, the old checkpoint and the marker stay, and later there is
 * room again. */
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

/* What a killed process leaves is cleared away, what the marker names is not. */
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_roundtrip), TEST(test_damage), TEST(test_keeping),
        TEST(test_extra), TEST(test_validated_again), TEST(test_earlier_index),
        TEST(test_forgetting), TEST(test_newest), TEST(test_going_on), TEST(test_going_back),
        TEST(test_full_disk), TEST(test_left_overs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
