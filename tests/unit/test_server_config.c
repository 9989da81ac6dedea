/* Settings from flags, environment and file; tests/api/test_lifecycle.py tests the rest from
 * outside. */
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
         d[] = "HOME=/", e[] = "DRAGOMAN_COMPUTE_THREADS=1",
         f[] = "DRAGOMAN_=", g[] = "DRAGOMAN_SHORTLIST=off", h[] = "DRAGOMAN_CUDA_PATIENCE=20";
    char *environment[] = {a, b, c, d, e, f, g, h, NULL};
    struct dg_buffer names;
    (void)state;
    dg_buffer_init(&names);
    dg_server_config_unknown(environment, &names);
    assert_string_equal(names.data, "DRAGOMAN_MAX_CHARS, DRAGOMAN_");
    dg_buffer_deinit(&names);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
}

/* The file has changed: settings that may change while the server runs do, the others are named;
 * flags still override the file. */
static void read_again(void **state)
{
    struct dg_server_config c, fresh;
    struct dg_error err = {0};
    struct dg_buffer changed, kept;
    char path[] = "/tmp/dragoman-config-XXXXXX";
    char *argv[] = {(char *)(uintptr_t) "dragoman-server", (char *)(uintptr_t) "--config", path,
        (char *)(uintptr_t) "--max-texts=3"};
    (void)state;
    close(mkstemp(path));
    variables[0] = NULL;
    write_file(path, "{\"max_characters\": 10, \"port\": 1}");
    assert_int_equal(dg_server_config_read(4, argv, lookup, &c, &err), 0);
    c.max_connections = 100; /* as when the service lowers a default */
    dg_buffer_init(&changed);
    dg_buffer_init(&kept);
    write_file(path,
        "{\"max_characters\": 20, \"max_texts\": 9, \"port\": 2, \"log_level\": \"warn\","
        "\"request_timeout\": 0.5, \"host\": \"::1\", \"cache_bytes\": 4096}");
    assert_int_equal(dg_server_config_read(4, argv, lookup, &fresh, &err), 0);
    dg_server_config_take(&c, &fresh, &changed, &kept);
    assert_string_equal(
        changed.data, "max_characters=20,cache_bytes=4096,request_timeout=0.5,log_level=warn");
    assert_string_equal(kept.data, "host,port");
    assert_int_equal(c.max_characters, 20);
    assert_int_equal(c.request_timeout_ms, 500);
    assert_int_equal(c.max_texts, 3);
    assert_int_equal(c.port, 1);
    assert_int_equal(c.max_connections, 100);
    assert_string_equal(c.log_level, "warn");
    dg_buffer_reset(&changed);
    dg_buffer_reset(&kept);
    write_file(path, "{}"); /* a removed setting has its default again */
    assert_int_equal(dg_server_config_read(4, argv, lookup, &fresh, &err), 0);
    dg_server_config_take(&c, &fresh, &changed, &kept);
    assert_int_equal(c.max_characters, 200000);
    assert_int_equal(c.cache_bytes, 0);
    dg_buffer_deinit(&changed);
    dg_buffer_deinit(&kept);
    unlink(path);
}

static void files_that_are_refused(void **state)
{
    static const char *const cases[][2] = {{"[]", ": holds an array, expected an object"},
        {"{\"config\": \"/etc/other.json\"}", ": a settings file cannot name another one"}};
    struct dg_server_config c;
    struct dg_error err = {0};
    char path[] = "/tmp/dragoman-config-XXXXXX";
    const char *flags[] = {"--config", path};
    (void)state;
    close(mkstemp(path));
    variables[0] = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file(path, cases[i][0]);
        dg_error_clear(&err);
        assert_int_equal(read_config(&c, &err, flags, 2), DG_EINVAL);
        assert_memory_equal(err.message, path, strlen(path));
        assert_memory_equal(err.message + strlen(path), cases[i][1], strlen(cases[i][1]));
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_that_are_refused),
        cmocka_unit_test(defaults), cmocka_unit_test(later_beats_earlier), cmocka_unit_test(bounds),
        cmocka_unit_test(actions), cmocka_unit_test(unknown_variables),
        cmocka_unit_test(read_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
