#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static void first_message_wins(void **state)
{
    (void)state;
    struct dg_error err = {0};
    assert_int_equal(dg_error_field(&err, DG_EINVAL, "beam_size", "is %d", 7), DG_EINVAL);
    assert_int_equal(
        dg_error_set(&err, DG_EIO, "later"), DG_EIO); /* the code asked for, not the stored one */
    assert_int_equal(err.code, DG_EINVAL);
    assert_string_equal(err.field, "beam_size");
    assert_string_equal(err.message, "is 7");
    dg_error_clear(&err);
    assert_int_equal(err.code, DG_OK);
    dg_error_set(&err, DG_EIO, "later");
    assert_string_equal(err.message, "later");
    assert_string_equal(err.field, "");
}

static void null_is_fine(void **state)
{
    (void)state;
    dg_error_clear(NULL);
    assert_int_equal(dg_error_set(NULL, DG_ELIMIT, "x"), DG_ELIMIT);
    assert_int_equal(dg_error_field(NULL, DG_ELIMIT, "f", "x"), DG_ELIMIT);
    assert_int_equal(dg_error_prefix(NULL, "x"), DG_OK);
    struct dg_error err = {0};
    dg_error_field(&err, DG_EINVAL, NULL, "x");
    assert_string_equal(err.field, "");
}

static void prefix_goes_before(void **state)
{
    (void)state;
    struct dg_error err = {0};
    assert_int_equal(dg_error_prefix(&err, "unused"), DG_OK);
    assert_string_equal(err.message, "");
    dg_error_set(&err, DG_EFORMAT, "bad magic");
    assert_int_equal(dg_error_prefix(&err, "%s:%d", "file", 3), DG_EFORMAT);
    assert_string_equal(err.message, "file:3: bad magic");
}

/* A short prefix takes only its own length from the message; a long one leaves at least half of the
 * room to the message. */
static void prefix_keeps_what_fits(void **state)
{
    (void)state;
    struct dg_error err = {0};
    char text[501], head[401];
    memset(text, 'm', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memset(head, 'p', sizeof head - 1);
    head[sizeof head - 1] = '\0';
    dg_error_set(&err, DG_EIO, "%s", text);
    dg_error_prefix(&err, "ab");
    assert_int_equal(strlen(err.message), 504);
    assert_memory_equal(err.message, "ab: mm", 6);
    dg_error_prefix(&err, "%s", head);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_non_null(strstr(err.message, "pp: ab: mmm"));
    assert_true(strspn(err.message, "p") < sizeof err.message / 2);
}

/* Returns the number of bytes of s up to the first malformed UTF-8 character, or all of them. */
static size_t whole_utf8(const char *s)
{
    size_t i = 0;
    while (s[i]) {
        unsigned char c = (unsigned char)s[i];
        size_t n = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        for (size_t k = 1; k < n; k++)
            if (((unsigned char)s[i + k] & 0xC0) != 0x80)
                return i;
        i += n;
    }
    return i;
}

static void long_text_is_cut_between_characters(void **state)
{
    (void)state;
    static const char *const characters[] = {"x", "ü", "€", "😀"};
    char text[2048];
    for (size_t c = 0; c < 4; c++) {
        size_t bytes = strlen(characters[c]);
        for (size_t shift = 0; shift < 4; shift++) {
            memset(text, '.', shift);
            size_t n = shift;
            for (; n + 8 < sizeof text; n += bytes)
                memcpy(text + n, characters[c], bytes);
            text[n] = '\0';
            struct dg_error err = {0};
            dg_error_field(&err, DG_EINVAL, text, "%s", text);
            assert_int_equal(whole_utf8(err.message), strlen(err.message));
            assert_true(strlen(err.message) > sizeof err.message - 1 - bytes);
            assert_int_equal(whole_utf8(err.field), strlen(err.field));
            assert_true(strlen(err.field) > sizeof err.field - 1 - bytes);
            dg_error_prefix(&err, "%s", text);
            assert_int_equal(whole_utf8(err.message), strlen(err.message));
        }
    }
}

static void complete_text_is_not_cut(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "a", "ü", "a€", "a😀", "日本語"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dg_error err = {0};
        dg_error_set(&err, DG_EINVAL, "%s", texts[i]);
        assert_string_equal(err.message, texts[i]);
    }
}

static void codes_have_names(void **state)
{
    (void)state;
    for (int a = DG_EINTERNAL; a <= 0; a++)
        for (int b = DG_EINTERNAL; b < a; b++)
            assert_string_not_equal(dg_code_name(a), dg_code_name(b));
    assert_string_equal(dg_code_name(DG_ELIMIT), "limit");
    assert_string_equal(dg_code_name(12345), "internal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_message_wins),
        cmocka_unit_test(null_is_fine),
        cmocka_unit_test(prefix_goes_before),
        cmocka_unit_test(prefix_keeps_what_fits),
        cmocka_unit_test(long_text_is_cut_between_characters),
        cmocka_unit_test(complete_text_is_not_cut),
        cmocka_unit_test(codes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
