/* The folder of checkpoints: which ones stay, which is the newest, fallback after damage, and
 * leftovers of a killed process. */
#include "tests/unit/checkpoint_files.h"

#include <string.h>
#include <sys/stat.h>

static void test_keeping(void **state)
{
    (void)state;
    static const float scores[] = {10, NAN, 30, 20, 30, NAN, 5, 6};
    struct dg_checkpoint_dir *k = NULL;
    struct dg_error err = {0};
    uint64_t steps[8];
    for (int again = 0; again < 2; again++) { /* the second round reads the index back */
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
        assert_int_equal(k->bad, 4); /* 20, 30 (not better), 5, 6 */
        dg_checkpoint_dir_close(k);
    }
}

/* Extra checkpoints are not part of an average of the last ones and displace none of them; the
 * newest is kept to resume from, and one with a good score is kept for the score. */
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
    assert_int_equal(dg_checkpoint_dir_last(k, 2, steps), 1); /* only one is not extra */
    assert_int_equal(steps[0], 5);
    assert_int_equal(add(k, 10, NAN, &err), 0);
    assert_false(exists(k, 5));
    assert_int_equal(add(k, 20, 7, &err), 0);
    assert_int_equal(keep(k, 21, DG_KEPT_EXTRA, &err), 0);
    assert_int_equal(dg_checkpoint_dir_score(k, 21, 9, &err), 0);
    assert_int_equal(keep(k, 22, DG_KEPT_EXTRA, &err), 0);
    assert_int_equal(dg_checkpoint_dir_score(k, 22, 9, &err), 0); /* is counted, and not better */
    assert_int_equal(k->bad, 1);
    for (int again = 0; again < 2; again++) { /* the second round reads the index back */
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

/* A killed run goes back to its last checkpoint and validates some steps again: this must not use
 * up patience a second time. */
static void test_validated_again(void **state)
{
    (void)state;
    struct dg_checkpoint_dir *k = NULL;
    struct dg_error err = {0};
    assert_int_equal(dg_checkpoint_dir_open(folder, 2, 0, &k, &err), 0);
    for (int i = 0; i < 100; i++) { /* scores with any digits are read back unchanged */
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

/* The index of earlier programs, without "extra", "validated" and "best_step". */
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

/* Forgets the newest checkpoint of a run that diverged, unless it is the only one or of another
 * step. */
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
    assert_true(dg_checkpoint_dir_find(k, 1) && !dg_checkpoint_dir_find(k, 2));
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

/* Damaged checkpoints that a run fell back from are not listed, averaged or kept any more; scores
 * remain. A file that cannot be read is not taken for damaged, and nothing is removed because of
 * it. */
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
    assert_true(exists(k, 4) && !exists(k, 6) && !exists(k, 8) && !dg_checkpoint_dir_find(k, 6));
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

/* A run that went back to an older checkpoint replaces the newer steps. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_keeping),
        TEST(test_extra),
        TEST(test_validated_again),
        TEST(test_earlier_index),
        TEST(test_forgetting),
        TEST(test_newest),
        TEST(test_going_on),
        TEST(test_going_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
