/* Which names in Host no stranger can register for this machine. */
#include "server/access/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool own(const char *host)
{
    unsigned port;
    const size_t n = dg_site_name_len(host, &port);
    return dg_site_is_own(host, n, "box.corp.example.com");
}

static void addresses_and_reserved_names_are_own(void **state)
{
    static const char *const hosts[] = {"localhost", "LocalHost:8080", "localhost.", "127.0.0.1:80",
        "10.1.2.3", "[::1]:8080", "[fe80::1]", "", ":80", "box", "box:8080", "a.localhost:1",
        "printer.local", "db.internal:8080", "app.test", "nas.home.arpa",
        "BOX.corp.example.com:8080"};
    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (!own(hosts[i]))
            fail_msg("%s", hosts[i]);
}

static void names_that_can_be_registered_are_not(void **state)
{
    static const char *const hosts[] = {"evil.com", "evil.com:8080", "evil.com.:8080",
        "localhost.evil.com:8080", "127.0.0.1.evil.com:8080", "127.0.0.1.5", "1.2.3.4.nip.io",
        "corp.example.com", "x.box.corp.example.com", "evillocalhost.com", ".com"};
    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (own(hosts[i]))
            fail_msg("%s", hosts[i]);
}

static void the_port_is_told_apart(void **state)
{
    static const struct {
        const char *host;
        size_t n;
        unsigned port;
    } cases[] = {{"evil.com:8080", 8, 8080}, {"evil.com", 8, 80}, {"[::1]:81", 5, 81},
        {"[::1]", 5, 80}, {"a:", 1, 0}, {"[::1", 1, 0}, {"a:x", 1, 0}};
    unsigned port;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(dg_site_name_len(cases[i].host, &port), cases[i].n);
        assert_int_equal(port, cases[i].port);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_and_reserved_names_are_own),
        cmocka_unit_test(names_that_can_be_registered_are_not),
        cmocka_unit_test(the_port_is_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
