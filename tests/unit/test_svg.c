/* What SVG pictures share: text as XML 1.0 may hold it, the document's head. */
#include "base/svg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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
    /* U+FFFD, once a byte */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_what_xml_may_hold),
        cmocka_unit_test(head_and_end_make_a_document),
        cmocka_unit_test(colours_differ_and_come_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
