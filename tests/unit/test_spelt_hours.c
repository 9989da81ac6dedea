/* text/numbers/spelt_hours.h: hours with halves and quarters in words. */
#include "text/numbers/spelt_hours.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Translates all of s from one language to another. */
static void expect(const char *from, const char *s, const char *to, const char *wanted)
{
    struct dg_spelt_hour hour;
    struct dg_buffer b;
    dg_buffer_init(&b);
    if (!dg_spelt_hour_read(from, s, strlen(s), &hour))
        fail_msg("\"%s\" is no hour of \"%s\"", s, from);
    assert_true(dg_spelt_hour_write(to, &hour, &b));
    assert_string_equal(b.data, wanted);
    dg_buffer_deinit(&b);
}

static void words_of_another_language(void **state)
{
    (void)state;
    expect("en", "half past two", "de", "halb drei");
    expect("de", "halb drei", "en", "half past two");
    expect("de-AT", "halb eins", "en-GB", "half past twelve");
    expect("en", "Half past 12", "de", "halb eins");
    expect("de", "Viertel vor acht", "fr", "huit heures moins le quart");
    expect("de", "VIERTEL NACH ZEHN UHR", "en", "a quarter past ten");
    expect("en", "quarter to one o'clock", "de", "Viertel vor eins");
    expect("en", "half past one", "fr", "une heure et demie");
    expect("fr", "une heure moins le quart", "en", "a quarter to one");
    expect("fr", "huit heures et quart", "de", "Viertel nach acht");
}

/* Checks how many bytes of s from byte `at` on are an hour. */
static void expect_end(const char *s, size_t at, size_t bytes)
{
    assert_int_equal(dg_spelt_hour_end(s, at, strlen(s)), at + bytes);
}

static void ends(void **state)
{
    (void)state;
    expect_end("at half past two.", 3, 13);
    expect_end("um halb 3, dann", 3, 6);
    expect_end("vers huit heures et demie, il", 5, 20);
    expect_end("pendant huit heures et demie", 8, 0);
    expect_end("huit heures et demie", 0, 0);
    expect_end("half past seventeen", 0, 0);
    expect_end("a quarter to two-thirds", 0, 0);
    expect_end("Viertel vor zwei Jahren", 0, 0);
    expect_end("halb 3,5", 0, 0);
    expect_end("half past", 0, 0);
    expect_end("halbe Stunde", 0, 0);
}

static void others(void **state)
{
    struct dg_spelt_hour hour = {2, 2};
    struct dg_buffer b;
    (void)state;
    dg_buffer_init(&b);
    assert_false(dg_spelt_hour_read("fr", "half past two", 13, &hour));
    assert_true(dg_spelt_hour_read(NULL, "half past two", 13, &hour));
    assert_false(dg_spelt_hour_read("en", "half past two dogs", 18, &hour));
    assert_false(dg_spelt_hour_read("en", "", 0, &hour));
    assert_false(dg_spelt_hour_write("nl", &hour, &b));
    assert_int_equal(b.len, 0);
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_of_another_language),
        cmocka_unit_test(ends), cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
