/* A reply that copies server data, and the reply when there is no memory for the copy. */
#include "server/http/reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/no_memory.h"

#include <stdlib.h>
#include <string.h>

static void a_copy_is_the_body(void **state)
{
    static const char data[] = "a: b\n";
    struct dg_http_reply r = {.content_type = "application/yaml"};
    (void)state;
    dg_reply_copy(&r, data, sizeof data - 1);
    assert_int_equal(r.status, 200);
    assert_string_equal(r.content_type, "application/yaml");
    assert_int_equal(r.body_len, sizeof data - 1);
    assert_memory_equal(r.body, data, sizeof data - 1);
    assert_int_equal(r.n_headers, 0);
    free(r.body);
}

/* Pages and the description used to be an empty 503 in their own type. */
static void a_copy_without_memory_is_refused_in_words(void **state)
{
    struct dg_http_reply r = {.content_type = "text/html; charset=utf-8"};
    (void)state;
    dg_reply_copy(&r, "", SIZE_MAX / 2);
    assert_int_equal(r.status, 503);
    assert_string_equal(r.content_type, "application/json");
    assert_non_null(memmem(r.body, r.body_len, "overloaded", 10));
    assert_non_null(memmem(r.body, r.body_len, "no memory", 9));
    assert_int_equal(r.n_headers, 1);
    assert_string_equal(r.headers[0].name, "Retry-After");
    free(r.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_the_body),
        cmocka_unit_test(a_copy_without_memory_is_refused_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
