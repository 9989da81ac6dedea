#include "trainer/run/trainlog.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/test_trainlog_XXXXXX";

static int make(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    return close(fd);
}

static int clear(void **state)
{
    (void)state;
    return remove(path);
}

static void write_train(struct dg_trainlog *l, int64_t update)
{
    struct dg_trainlog_train t = {.update = update,
        .updates = 100,
        .epoch = 0.5,
        .loss = 4.5,
        .nll = 4,
        .lr = 1e-4,
        .grad_norm = 2,
        .source_tokens = 1000,
        .target_tokens = 1200,
        .seconds = 2,
        .cpu_seconds = 4,
        .rss_bytes = 7};
    struct dg_error err = {0};
    assert_int_equal(dg_trainlog_train(l, &t, &err), 0);
}

/* Returns the objects of the file in one array. */
static struct dg_json *read_lines(void)
{
    struct dg_buffer b;
    struct dg_json *list = dg_json_new_array();
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(path, &b, NULL), 0);
    for (size_t i = 0; i < b.len;) {
        const char *end = memchr(b.data + i, '\n', b.len - i);
        assert_non_null(end);
        struct dg_json *v = dg_json_parse(b.data + i, (size_t)(end - b.data) - i, NULL);
        assert_non_null(v);
        assert_int_equal(dg_json_append_take(list, v), 0);
        i = (size_t)(end - b.data) + 1;
    }
    dg_buffer_deinit(&b);
    return list;
}

static double number(const struct dg_json *o, const char *key)
{
    assert_non_null(dg_json_get(o, key));
    return dg_json_number(dg_json_get(o, key));
}

static void test_lines(void **state)
{
    (void)state;
    struct dg_trainlog *l;
    struct dg_error err = {0};
    assert_int_equal(dg_trainlog_open(path, 0, true, &l, &err), 0);
    write_train(l, 50);
    struct dg_trainlog_valid v = {.update = 50,
        .loss = 3,
        .nll = 2.5,
        .bleu = 12.5,
        .chrf = NAN,
        .bleu_signature = "sig",
        .seconds = 1};
    assert_int_equal(dg_trainlog_valid(l, &v, &err), 0);
    assert_int_equal(dg_trainlog_sample(l, 50, "a \"quoted\"\nline", "ref", "übersetzt", &err), 0);
    dg_trainlog_tick(l, 51, 100, 4, 3, 100);
    dg_trainlog_close(l);
    struct dg_json *list = read_lines();
    assert_int_equal(dg_json_length(list), 3);
    const struct dg_json *t = dg_json_at(list, 0);
    assert_string_equal(dg_json_string(dg_json_get(t, "kind"), NULL), "train");
    assert_true(number(t, "update") == 50 && number(t, "loss") == 4.5);
    assert_true(fabs(number(t, "ppl") - exp(4)) <
                1e-6); /* of the unsmoothed loss; nine digits are written */
    assert_true(number(t, "tokens_per_s") == 1100 && number(t, "tokens_per_cpu_s") == 550);
    assert_true(number(dg_json_at(list, 1), "bleu") == 12.5);
    assert_null(dg_json_get(dg_json_at(list, 1), "chrf")); /* not measured: left out */
    assert_string_equal(
        dg_json_string(dg_json_get(dg_json_at(list, 2), "translation"), NULL), "übersetzt");
    dg_json_free(list);
}

/* A run killed inside a line resumes from a checkpoint at 20: later lines are cut, since their
 * updates are repeated. */
static void test_resume_cuts(void **state)
{
    (void)state;
    struct dg_trainlog *l;
    struct dg_error err = {0};
    remove(path);
    /* a missing file is no error */
    assert_int_equal(dg_trainlog_open(path, 5, false, &l, &err), 0);
    for (int64_t u = 10; u <= 40; u += 10)
        write_train(l, u);
    dg_trainlog_close(l);
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    fputs("{\"kind\":\"train\",\"upda", f);
    fclose(f);
    assert_int_equal(dg_trainlog_open(path, 20, false, &l, &err), 0);
    write_train(l, 30);
    dg_trainlog_close(l);
    struct dg_json *list = read_lines();
    assert_int_equal(dg_json_length(list), 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(number(dg_json_at(list, i), "update") == 10.0 * (double)(i + 1));
    dg_json_free(list);
    assert_int_equal(dg_trainlog_open(path, -1, false, &l, &err), 0);
    write_train(l, 10);
    dg_trainlog_close(l);
    list = read_lines();
    assert_int_equal(dg_json_length(list), 4);
    dg_json_free(list);
    assert_int_equal(dg_trainlog_open("/nowhere/log", -1, false, &l, &err), DG_EIO);
    dg_error_clear(&err);
    /* without a file: lines go nowhere */
    assert_int_equal(dg_trainlog_open(NULL, -1, false, &l, &err), 0);
    write_train(l, 50);
    dg_trainlog_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_resume_cuts),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
