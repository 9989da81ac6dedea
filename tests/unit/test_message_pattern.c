/* Where ICU's parser finds the parts of a message, in bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "text/message_pattern.h"

static void expect(const char *message, const char *want)
{
    struct dg_pattern_part *parts;
    struct dg_error err = {0};
    size_t n;
    char got[1000] = "";
    assert_int_equal(dg_message_pattern_read(message, strlen(message), &parts, &n, &err), 0);
    for (size_t i = 0; i < n; i++) {
        const char kind = "<>{}nsv#'."[parts[i].kind];
        const size_t len = strlen(got);
        assert_true(parts[i].partner >= i && parts[i].partner < n);
        snprintf(got + len, sizeof got - len, "%c%.*s", kind, (int)(parts[i].end - parts[i].begin),
            message + parts[i].begin);
    }
    assert_string_equal(got, want);
    free(parts);
}

static void test_parts(void **state)
{
    (void)state;
    expect("", "<>");
    expect("é {größe}'s", "<{{ngröße}}.>");
    expect("{n,plural,offset:1 =0{a}one{é #}other{'#'}}",
        "<{{nnv1s=0v0<{>}sone<{##>}sother<{''''>}}}>");
    expect(
        "it''s {0, select, other {{at, date, short}}}", "<''{{n0sother<{{{nat.date. short}}>}}}>");
}

static void test_types(void **state)
{
    static const struct {
        const char *message;
        enum dg_pattern_type type;
    } cases[] = {{"{a}", DG_PATTERN_SIMPLE}, {"{a, number}", DG_PATTERN_SIMPLE},
        {"{a, choice, 0#b|1#c}", DG_PATTERN_SIMPLE}, {"{a, plural, other {b}}", DG_PATTERN_PLURAL},
        {"{a, selectordinal, other {b}}", DG_PATTERN_ORDINAL},
        {"{a, select, other {b}}", DG_PATTERN_SELECT}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_pattern_part *parts;
        const char *s = cases[i].message;
        size_t n;
        assert_int_equal(dg_message_pattern_read(s, strlen(s), &parts, &n, NULL), 0);
        assert_int_equal(parts[1].kind, DG_PATTERN_ARGUMENT);
        assert_int_equal(parts[1].type, cases[i].type);
        assert_int_equal(parts[parts[1].partner].end, strlen(s));
        free(parts);
    }
}

static void test_refusals(void **state)
{
    static const char *const wrong[] = {"{a", "{a b}", "{a, plural, one {b}}", "{{a}}", "{}"};
    struct dg_pattern_part *parts;
    struct dg_error err = {0};
    size_t n;
    char *long_one = calloc(1, DG_MESSAGE_PATTERN_LONGEST + 1);
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(
            dg_message_pattern_read(wrong[i], strlen(wrong[i]), &parts, &n, NULL), DG_EINVAL);
    assert_int_equal(
        dg_message_pattern_read(long_one, DG_MESSAGE_PATTERN_LONGEST + 1, &parts, &n, &err),
        DG_ELIMIT);
    assert_null(parts);
    free(long_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_types),
        cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
