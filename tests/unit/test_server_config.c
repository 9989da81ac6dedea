/* Settings from flags, environment and file; the rest is tested from outside
 * (tests/api/test_lifecycle.py). */
#include "server/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *variables[8]; /* name, value, ..., NULL */

static char *lookup(const char *name)
{
    for (size_t i = 0; variables[i]; i += 2)
        if (!strcmp(variables[i], name))
            return (char *)(uintptr_t)variables[i + 1];
    return NULL;
}

static int read_config(
    struct dg_server_config *c, struct dg_error *err, const char *const *flags, int n)
{
    char *argv[16] = {(char *)(uintptr_t) "dragoman-server"};
    for (int i = 0; i < n; i++)
        argv[i + 1] = (char *)(uintptr_t)flags[i];
    dg_error_clear(err);
    return dg_server_config_read(n + 1, argv, lookup, c, err);
}

static void defaults(void **state)
{
    struct dg_server_config c;
    struct dg_error err;
    (void)state;
    variables[0] = NULL;
    assert_int_equal(read_config(&c, &err, NULL, 0), 0);
    assert_int_equal(c.port, 8080);
    assert_string_equal(c.host, "127.0.0.1");
    assert_string_equal(c.models, "");
    assert_int_equal(c.request_timeout_ms, 60000);
    assert_int_equal(c.max_characters, 200000);
    assert_int_equal(c.action, DG_SERVE);
}

static void later_beats_earlier(void **state)
{
    struct dg_server_config c;
    struct dg_error err;
    char path[] = "/tmp/dragoman-config-XXXXXX";
    int fd = mkstemp(path);
    static const char text[] =
        "{\"port\": 1, \"threads\": 7, \"request_timeout\": 0.25, \"host\": \"::1\"}";
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    variables[0] = "DRAGOMAN_PORT";
    variables[1] = "2";
    variables[2] = "DRAGOMAN_THREADS";
    variables[3] = "8";
    variables[4] = "DRAGOMAN_CONFIG";
    variables[5] = path;
    variables[6] = NULL;
    const char *flags[] = {"--port=3", "--models", "x"};
    assert_int_equal(read_config(&c, &err, flags, 3), 0);
    assert_int_equal(c.port, 3);
    assert_int_equal(c.threads, 8);
    assert_int_equal(c.request_timeout_ms, 250);
    assert_string_equal(c.host, "::1");
    assert_string_equal(c.models, "x");
    const char *other[] = {"--config", "/nowhere"}; /* the flag beats the variable here too */
    assert_int_not_equal(read_config(&c, &err, other, 2), 0);
    assert_non_null(strstr(err.message, "/nowhere"));
    unlink(path);
}

static void bounds(void **state)
{
    static const struct {
        const char *flag;
        bool fine;
    } cases[] = {
        {"--port=0", true},
        {"--port=65535", true},
        {"--port=65536", false},
        {"--port=-1", false},
        {"--port=1x", false},
        {"--port= 1", false},
        {"--port=", false},
        {"--port=99999999999999999999", false},
        {"--request-timeout=0.001", true},
        {"--request-timeout=0", false},
        {"--request-timeout=86400", true},
        {"--request-timeout=86401", false},
        {"--request-timeout=nan", false},
        {"--request-timeout=1e3", true},
        {"--drain-timeout=0", true},
        {"--log-level=debug", true},
        {"--log-level=deb", false},
        {"--log-level=", false},
        {"--log-level=debug|info", false},
        {"--nothing", false},
        {"--max-beam=33", false},
    };
    struct dg_server_config c;
    struct dg_error err;
    (void)state;
    variables[0] = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rc = read_config(&c, &err, &cases[i].flag, 1);
        if ((rc == 0) != cases[i].fine)
            print_error("%s\n", cases[i].flag);
        assert_int_equal(rc == 0, cases[i].fine);
        assert_true(rc == 0 || err.message[0]);
    }
}

static void actions(void **state)
{
    struct dg_server_config c;
    struct dg_error err;
    const char *flag = "--routes";
    (void)state;
    assert_int_equal(read_config(&c, &err, &flag, 1), 0);
    assert_int_equal(c.action, DG_SHOW_ROUTES);
    flag = "--check-config";
    assert_int_equal(read_config(&c, &err, &flag, 1), 0);
    assert_int_equal(c.action, DG_CHECK_CONFIG);
}

static void unknown_variables(void **state)
{
    char a[] = "DRAGOMAN_MAX_CHARS=1", b[] = "DRAGOMAN_MAX_CHARACTERS=1", c[] = "DRAGOMAN_ISA=avx2",
         d[] = "HOME=/", e[] = "DRAGOMAN_COMPUTE_THREADS=1", f[] = "DRAGOMAN_=";
    char *environment[] = {a, b, c, d, e, f, NULL};
    struct dg_buffer names;
    (void)state;
    dg_buffer_init(&names);
    dg_server_config_unknown(environment, &names);
    assert_string_equal(names.data, "DRAGOMAN_MAX_CHARS, DRAGOMAN_");
    dg_buffer_deinit(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(defaults),
        cmocka_unit_test(later_beats_earlier), cmocka_unit_test(bounds), cmocka_unit_test(actions),
        cmocka_unit_test(unknown_variables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
