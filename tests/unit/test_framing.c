/* Combinations of headers that leave a request's end in doubt. */
#include "server/http/framing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct {
    const char *headers[7]; /* name, value, ..., NULL */
    bool http10, fine;
    unsigned long long length;
} cases[] = {
    {{NULL}, false, true, 0},
    {{"Content-Length", "0", NULL}, false, true, 0},
    {{"content-length", "18446744073709551615", NULL}, false, true, 18446744073709551615ull},
    {{"Content-Length", "18446744073709551616", NULL}, false, false, 0},
    {{"Content-Length", "007", NULL}, true, true, 7},
    {{"Content-Length", "", NULL}, false, false, 0},
    {{"Content-Length", "-1", NULL}, false, false, 0},
    {{"Content-Length", "+1", NULL}, false, false, 0},
    {{"Content-Length", "1 ", NULL}, false, false, 0},
    {{"Content-Length", "1,1", NULL}, false, false, 0},
    {{"Content-Length", "1", "Content-Length", "1", NULL}, false, false, 0},
    {{"Content-Length", "1", "CONTENT-LENGTH", "2", NULL}, false, false, 0},
    {{"Transfer-Encoding", "chunked", NULL}, false, true, 0},
    {{"Transfer-Encoding", "Chunked", NULL}, false, true, 0},
    {{"Transfer-Encoding", "chunked", NULL}, true, false, 0},
    {{"Transfer-Encoding", "chunked, chunked", NULL}, false, false, 0},
    {{"Transfer-Encoding", "gzip", NULL}, false, false, 0},
    {{"Transfer-Encoding", "", NULL}, false, false, 0},
    {{"Transfer-Encoding", "identity", "transfer-encoding", "chunked", NULL}, false, false, 0},
    {{"Transfer-Encoding", "chunked", "Content-Length", "1", NULL}, false, false, 0},
    {{"Content-Length", "1", "Transfer-Encoding", "chunked", NULL}, false, false, 0},
    {{"Host", "a", "Content-Length", "1", NULL}, false, true, 1},
    {{"Host", "a", "host", "a", NULL}, false, false, 0},
    {{"Content-Length ", "1", NULL}, false, false, 0},
    {{"Trans\tfer", "1", NULL}, false, false, 0},
    {{"X-Content-Length", "none", "Transfer-Encodings", "x", NULL}, false, true, 0},
};

static void faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_framing f = {0};
        for (size_t h = 0; cases[i].headers[h]; h += 2)
            dg_framing_header(&f, cases[i].headers[h], cases[i].headers[h + 1]);
        const char *fault = dg_framing_fault(&f, !cases[i].http10);
        if ((fault == NULL) != cases[i].fine)
            print_error("case %zu: %s\n", i, fault ? fault : "no fault");
        assert_int_equal(fault == NULL, cases[i].fine);
        if (!fault)
            assert_true(f.length == cases[i].length);
    }
}

static void no_value(void **state)
{
    struct dg_framing f = {0};
    (void)state;
    dg_framing_header(&f, "Content-Length", NULL);
    assert_non_null(dg_framing_fault(&f, true));
}

static void targets(void **state)
{
    static const char *const forms[][2] = {{"/livez", "/livez"}, {"http://a/livez", "/livez"},
        {"HTTPS://a:8080/v1/models", "/v1/models"}, {"http://a", "/"},
        {"http:///livez", "http:///livez"}, {"http://", "http://"},
        {"ftp://a/livez", "ftp://a/livez"}, {"*", "*"}, {"a:80", "a:80"},
        {"//a/livez", "//a/livez"}, {"http://a//livez", "//livez"}, {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        assert_string_equal(dg_framing_path(forms[i][0]), forms[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults), cmocka_unit_test(no_value), cmocka_unit_test(targets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
