/* Expiry dates of keys as people write them. Seconds come from `date -u -d ... +%s`. */
#include "store/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW 1800000000 /* 2027-01-15T08:00:00Z */

static void what_is_understood(void **state)
{
    static const struct {
        const char *text;
        int64_t expires_s;
    } rows[] = {{"never", 0}, {"2027-01-31", 1801440000}, {"2028-02-29", 1835481600},
        {"2027-01-15T08:00:01Z", NOW + 1}, {"1h", NOW + 3600}, {"30d", NOW + 30 * 86400},
        {"2027-01-15", 1800057600}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dg_error err = {0};
        int64_t at = -1;
        assert_int_equal(dg_keys_expiry_read(rows[i].text, NOW, &at, &err), DG_OK);
        assert_int_equal(at, rows[i].expires_s);
    }
}

static void what_is_not(void **state)
{
    static const char *const wrong[] = {"", "soon", "0d", "0h", "-3d", "+3d", " 3d", "3", "3m",
        "3dd", "400000d", "18446744073709551617d", "2027-02-29", "2027-13-01", "27-01-31",
        "2027-1-31", "2027-01-31T", "2027-01-31T25:00:00Z", "2027-01-31T12:00:00", "2027-01-31Z",
        "2027-01-14", "2027-01-15T08:00:00Z", "1969-12-31"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct dg_error err = {0};
        int64_t at = -1;
        if (dg_keys_expiry_read(wrong[i], NOW, &at, &err) != DG_EINVAL)
            fail_msg("\"%s\" was understood", wrong[i]);
        assert_string_equal(err.field, "expires");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_understood),
        cmocka_unit_test(what_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
