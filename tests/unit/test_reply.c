/* A reply that has built-in data. */
#include "server/http/reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
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

/* It needs no memory of its own. */
static void a_reply_without_memory_says_so(void **state)
{
    struct dg_http_reply r = {0};
    (void)state;
    dg_reply_json_take(&r, 200, NULL);
    assert_int_equal(r.status, 503);
    assert_null(r.body);
    assert_non_null(strstr(r.fixed, "no memory for the reply"));
    assert_int_equal(r.body_len, strlen(r.fixed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fixed_data_is_not_copied),
        cmocka_unit_test(a_reply_without_memory_says_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
