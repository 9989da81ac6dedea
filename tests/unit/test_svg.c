/* Shared by SVG pictures: text that XML 1.0 can hold, and the document's head. */
#include "base/svg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const char *s, bool utf8, struct dg_buffer *b)
{
    dg_buffer_reset(b);
    dg_svg_text(b, s, utf8);
    return b->data;
}

static void text_is_what_xml_may_hold(void **state)
{
    struct dg_buffer b;
    (void)state;
    dg_buffer_init(&b);
    assert_string_equal(text("a<b> & \"c\"", true, &b), "a&lt;b&gt; &amp; \"c\"");
    assert_string_equal(text("\xC3\xA9", true, &b), "\xC3\xA9");
    /* U+FFFD for each bad byte */
    assert_string_equal(text("\xE9t\x01", false, &b), "\xEF\xBF\xBDt\xEF\xBF\xBD");
    dg_buffer_deinit(&b);
}

static void head_and_end_make_a_document(void **state)
{
    struct dg_buffer b;
    (void)state;
    dg_buffer_init(&b);
    dg_svg_begin(&b, 30, 20, 12);
    dg_svg_end(&b);
    assert_non_null(
        strstr(b.data, "xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"20\""));
    assert_non_null(strstr(b.data, "viewBox=\"0 0 30 20\""));
    assert_string_equal(b.data + b.len - 7, "</svg>\n");
    dg_buffer_deinit(&b);
}

static void colours_differ_and_come_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < 16; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(dg_svg_colour(i), dg_svg_colour(k));
    assert_string_equal(dg_svg_colour(16), dg_svg_colour(0));
}

/* Relative luminance of "#rrggbb", and the ratio of two, as WCAG 2 defines them. */
static double luminance(const char *colour)
{
    static const double share[] = {0.0722, 0.7152, 0.2126};
    const unsigned long rgb = strtoul(colour + 1, NULL, 16);
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double c = (double)(rgb >> (8 * i) & 255) / 255;
        sum += share[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(const char *a, const char *b)
{
    const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
    return x > y ? x / y : y / x;
}

/* The contrast that a graphical object needs, on the dark scheme's background. */
static void colours_are_seen_in_the_dark(void **state)
{
    struct dg_buffer b;
    (void)state;
    dg_buffer_init(&b);
    dg_svg_begin(&b, 30, 20, 12);
    const char *dark = strstr(b.data, "@media(prefers-color-scheme:dark)");
    assert_non_null(dark);
    const char *paper = strstr(dark, ".paper{fill:"), *ink = strstr(dark, ".ink{fill:");
    assert_non_null(paper);
    assert_non_null(ink);
    paper += strlen(".paper{fill:");
    assert_true(contrast(ink + strlen(".ink{fill:"), paper) > 7);
    for (size_t i = 0; i < 16; i++) {
        char rule[40];
        for (int k = 0; k < 2; k++) {
            const char *name = k ? "stroke" : "fill";
            snprintf(rule, sizeof rule, "[%s=\"%s\"]{%s:", name, dg_svg_colour(i), name);
            const char *other = strstr(dark, rule);
            assert_true(contrast(other ? other + strlen(rule) : dg_svg_colour(i), paper) > 3);
        }
    }
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_what_xml_may_hold),
        cmocka_unit_test(head_and_end_make_a_document),
        cmocka_unit_test(colours_differ_and_come_again),
        cmocka_unit_test(colours_are_seen_in_the_dark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
