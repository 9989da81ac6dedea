/* trainer/progress.h: what fits on a line. */
#include "trainer/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

static const struct dg_progress_training run = {
    .update = 60000,
    .updates = 280000,
    .loss = 2.9312,
    .perplexity = 6.451,
    .tokens_per_s = 21034,
    .seconds_left = 86400 + 3 * 3600 + 10 * 60,
};

static void test_training_line(void **state)
{
    (void)state;
    char line[DG_PROGRESS_LINE];
    dg_progress_training_line(&run, 120, line);
    assert_string_equal(line, "60,000/280,000 [=====>                  ] loss 2.931  ppl 6.45  "
                              "21,034 tokens/s  ETA 1 d 03:10");
    dg_progress_training_line(&run, 79, line); /* a terminal of 80 columns */
    assert_string_equal(
        line, "60,000/280,000 [=>       ] loss 2.931  ppl 6.45  21,034 tokens/s  ETA 1 d 03:10");
    dg_progress_training_line(&run, 50, line);
    assert_string_equal(line, "60,000/280,000 21,034 tokens/s  ETA 1 d 03:10");
}

/* A permanent line shows the epoch in place of the bar. */
static void test_plain_line(void **state)
{
    (void)state;
    char line[DG_PROGRESS_LINE];
    struct dg_progress_training t = run;
    t.epoch = 12.3456;
    dg_progress_training_line(&t, 79, line);
    assert_string_equal(
        line, "60,000/280,000 loss 2.931  ppl 6.45  21,034 tokens/s  ETA 1 d 03:10");
    t.update = 1400;
    t.updates = 4500;
    t.seconds_left = 1880;
    dg_progress_training_line(&t, 79, line);
    assert_string_equal(
        line, "1,400/4,500 epoch 12.35 loss 2.931  ppl 6.45  21,034 tokens/s  ETA 31:20");
    for (int columns = 60; columns < 140; columns++) {
        dg_progress_training_line(&t, columns, line);
        assert_true(strlen(line) <= (size_t)columns && strstr(line, "ETA 31:20"));
    }
}

/* Every line ends with the ETA, and none is wider than allowed. */
static void test_always_fits(void **state)
{
    (void)state;
    struct dg_progress_training t = run;
    char line[DG_PROGRESS_LINE];
    for (int columns = 60; columns < 140; columns++)
        for (int64_t update = 1; update < 100000000; update *= 10) {
            t.update = update;
            t.updates = 10 * update;
            t.seconds_left = (double)update;
            dg_progress_training_line(&t, columns, line);
            assert_true(strlen(line) <= (size_t)columns);
            assert_non_null(strstr(line, "ETA "));
        }
    t.seconds_left = INFINITY;
    dg_progress_training_line(&t, 79, line);
    assert_string_equal(strstr(line, "ETA"), "ETA --:--");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_training_line),
        cmocka_unit_test(test_plain_line), cmocka_unit_test(test_always_fits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
