#include "trainer/run/plot.h"

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

static char folder[] = "/tmp/test_plot_XXXXXX";
static char log_path[64], svg_path[64];

static int make(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(log_path, sizeof log_path, "%s/a&b.jsonl", folder);
    snprintf(svg_path, sizeof svg_path, "%s/a.svg", folder);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    remove(log_path);
    remove(svg_path);
    return remove(folder);
}

static void write_log(int updates, bool valid)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    for (int u = 1; u <= updates; u++)
        dg_buffer_addf(&b,
            "{\"kind\":\"train\",\"update\":%d,\"loss\":%g,\"lr\":%g,\"tokens_per_s\":%d}\n",
            u * 10, 3 + 5.0 / u, 1e-6 * u, 4000 + u % 3);
    if (valid)
        dg_buffer_adds(&b, "{\"kind\":\"valid\",\"update\":100,\"loss\":4,\"bleu\":10.5}\n"
                           "{\"kind\":\"valid\",\"update\":200,\"loss\":3.5,\"bleu\":20.25}\n");
    dg_buffer_adds(&b, "{\"kind\":\"tra"); /* last line of a killed run */
    assert_int_equal(dg_file_write(log_path, b.data, b.len, NULL), 0);
    dg_buffer_deinit(&b);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, part)); p += strlen(part))
        n++;
    return n;
}

static void plot(struct dg_buffer *svg)
{
    const char *logs[1] = {log_path};
    struct dg_error err = {0};
    assert_int_equal(dg_plot(logs, 1, svg_path, &err), 0);
    dg_buffer_init(svg);
    assert_int_equal(dg_file_read(svg_path, svg, NULL), 0);
}

static void test_curves(void **state)
{
    (void)state;
    struct dg_buffer svg;
    write_log(20, true);
    plot(&svg);
    assert_int_equal(count(svg.data, "<circle"), 4); /* two validations in two panels */
    assert_non_null(strstr(svg.data, "<title>20.25 at 200</title>"));
    assert_non_null(strstr(svg.data, "a&amp;b.jsonl"));
    assert_null(strstr(svg.data, "nan"));
    assert_null(strstr(svg.data, "inf"));
    assert_int_equal(count(svg.data, "<g "), count(svg.data, "</g>"));
    assert_int_equal(count(svg.data, "not measured yet"), 0);
    /* The first training point, update 10, loss 8: axis 0..200 over x 64..456, 3..8 over y
     * 220..34. */
    assert_non_null(strstr(svg.data, "points=\"83.6,34.0 "));
    dg_buffer_deinit(&svg);
}

static void test_missing_and_many(void **state)
{
    (void)state;
    struct dg_buffer svg;
    write_log(5000, false);
    plot(&svg);
    assert_int_equal(count(svg.data, "not measured yet"), 1);
    assert_true(svg.len < 100000); /* thinned: 5,000 points would be four times that */
    dg_buffer_deinit(&svg);
}

static void test_nothing_to_plot(void **state)
{
    (void)state;
    const char *logs[1] = {log_path}, *none[1] = {"/nowhere/log"};
    struct dg_error err = {0};
    assert_int_equal(dg_file_write(log_path, "{}\n", 3, NULL), 0);
    assert_int_equal(dg_plot(logs, 1, svg_path, &err), DG_EINVAL);
    assert_int_equal(dg_plot(none, 1, svg_path, NULL), DG_ENOTFOUND);
}

/* A slip of the hand does not cost the run its log. */
static void test_spares_the_log(void **state)
{
    (void)state;
    const char *logs[1] = {log_path};
    struct dg_error err = {0};
    struct dg_buffer before, after;
    dg_buffer_init(&before);
    dg_buffer_init(&after);
    write_log(5, true);
    assert_int_equal(dg_file_read(log_path, &before, NULL), 0);
    assert_int_equal(dg_plot(logs, 1, log_path, &err), DG_EINVAL);
    assert_non_null(strstr(err.message, "a&b.jsonl is an input: it would be overwritten"));
    assert_int_equal(dg_file_read(log_path, &after, NULL), 0);
    assert_string_equal(after.data, before.data);
    dg_buffer_deinit(&before);
    dg_buffer_deinit(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_missing_and_many),
        cmocka_unit_test(test_nothing_to_plot),
        cmocka_unit_test(test_spares_the_log),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
