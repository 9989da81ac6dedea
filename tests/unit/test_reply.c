/* A reply that has built-in data. */
#include "server/http/reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void fixed_data_is_not_copied(void **state)
{
    static const char data[] = "a: b\n";
    struct dg_http_reply r = {.content_type = "application/yaml"};
    (void)state;
    dg_reply_fixed(&r, data, sizeof data - 1);
    assert_int_equal(r.status, 200);
    assert_string_equal(r.content_type, "application/yaml");
    assert_int_equal(r.body_len, sizeof data - 1);
    assert_ptr_equal(r.fixed, data);
    assert_null(r.body);
    assert_int_equal(r.n_headers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fixed_data_is_not_copied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
