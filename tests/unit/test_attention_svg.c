/* Pictures of attention from weights made by hand: which lines they have, how strong these are, and
 * that any text a vocabulary can hold becomes well-formed XML. tests/parity/test_attention.py
 * checks real weights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "translate/picture/attention_svg.h"

#include <string.h>

static char *rows[] = {"a<b", "\"&\"", "na\xc3\xafve"}, *columns[] = {"x", "\xff\x01z"};
static uint32_t heads[] = {2, 0};
static float weights[2 * 3 * 2] = {
    1, 0, 0.25f, 0.75f, 0.5f, 0.5f, 0.004f, 0.996f, 0, 1, 0.5f, 0.5f};

static struct dg_attention_view view(void)
{
    return (struct dg_attention_view){.kind = DG_ATTENTION_CROSS,
        .layer = 4,
        .n_layers = 6,
        .n_heads = 2,
        .heads = heads,
        .rows = 3,
        .columns = 2,
        .row_labels = rows,
        .column_labels = columns,
        .weights = weights};
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p++)
        n++;
    return n;
}

static char *picture(const struct dg_attention_svg *o, struct dg_buffer *b)
{
    struct dg_attention_view v = view();
    struct dg_error err = {0};
    dg_buffer_init(b);
    if (dg_attention_svg_write(&v, o, b, &err))
        fail_msg("%s", err.message);
    return b->data;
}

static void lines(void **state)
{
    (void)state;
    struct dg_buffer b;
    const char *s = picture(&(struct dg_attention_svg){0}, &b);
    assert_ptr_equal(strstr(s, "<svg xmlns=\"http://www.w3.org/2000/svg\""), s);
    assert_string_equal(s + b.len - 7, "</svg>\n");
    assert_int_equal(count(s, "<line "), 5 + 4); /* 0 and 0.004 are too faint to draw */
    assert_int_equal(count(s, "stroke-opacity=\"0.996\""), 1);
    assert_int_equal(count(s, "stroke-opacity=\"0.500\""), 4);
    assert_int_equal(count(s, "<g stroke="), 2);
    assert_non_null(strstr(s, "attention to the source, layer 5 of 6"));
    assert_non_null(strstr(s, ">3</text>")); /* heads count from 1 */
    dg_buffer_deinit(&b);
}

static void one_word(void **state)
{
    (void)state;
    struct dg_attention_view v = view();
    struct dg_error err = {0};
    struct dg_buffer b;
    const char *s = picture(&(struct dg_attention_svg){.word = "\"&\""}, &b);
    assert_int_equal(count(s, "<line "), 2 + 1);
    assert_int_equal(count(s, "class=\"soft\""), 2); /* the other rows' labels */
    dg_buffer_reset(&b);
    assert_int_equal(dg_attention_svg_write(&v, &(struct dg_attention_svg){.word = "b"}, &b, &err),
        DG_ENOTFOUND);
    assert_string_equal(err.field, "word");
    assert_non_null(strstr(err.message, "no word \"b\" in the sentence that attends: a<b "));
    dg_buffer_deinit(&b);
}

/* Text must not become markup, nor contain bytes that XML cannot hold. */
static void text_is_escaped(void **state)
{
    (void)state;
    for (int heat_map = 0; heat_map < 2; heat_map++) {
        struct dg_buffer b;
        const char *s = picture(&(struct dg_attention_svg){.heat_map = heat_map}, &b);
        assert_non_null(strstr(s, ">a&lt;b"));
        assert_non_null(strstr(s, "\"&amp;\""));
        assert_non_null(strstr(s, "na\xc3\xafve"));
        assert_non_null(strstr(s, "\xEF\xBF\xBD\xEF\xBF\xBDz"));
        assert_null(strstr(s, "a<b"));
        for (size_t i = 0; i < b.len; i++)
            assert_true((unsigned char)s[i] >= 0x20 || s[i] == '\n');
        assert_int_equal(count(s, "<"), count(s, ">"));
        dg_buffer_deinit(&b);
    }
}

static void heat_map(void **state)
{
    (void)state;
    struct dg_buffer b;
    const char *s = picture(&(struct dg_attention_svg){.heat_map = true}, &b);
    assert_int_equal(count(s, "fill-opacity="), 2 * 3 * 2);
    assert_int_equal(count(s, "fill-opacity=\"0.750\""), 1);
    assert_non_null(strstr(s, ", head 3: 0.250</title>"));
    assert_int_equal(count(s, "<line "), 0);
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(one_word),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(heat_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
