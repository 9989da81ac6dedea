#include "server/api/routes.h"
#include "store/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *method, const char *path, int status, const char *allow_expected)
{
    char allow[64];
    int got = 0;
    const struct dg_dialect *dialect;
    const struct dg_route *r = dg_routes_find(method, path, "none", &got, allow, &dialect);
    assert_int_equal(got, status);
    assert_true((r != NULL) == (status == 200));
    if (r)
        assert_string_equal(r->path, path);
    else
        assert_string_equal(allow, allow_expected);
}

static void finds(void **state)
{
    (void)state;
    expect("GET", "/livez", 200, NULL);
    expect("HEAD", "/livez", 200, NULL);
    expect("OPTIONS", "/livez", 204, "GET, HEAD, OPTIONS");
    expect("POST", "/livez", 405, "GET, HEAD, OPTIONS");
    expect("POST", "/v1/translate", 200, NULL);
    expect("GET", "/v1/translate", 405, "POST, OPTIONS");
    expect("HEAD", "/v1/translate", 405, "POST, OPTIONS");
    expect("BREW", "/v1/score", 405, "POST, OPTIONS");
    expect("OPTIONS", "/v1/score", 204, "POST, OPTIONS");
    expect("GET", "/v1/translat", 404, "");
    expect("OPTIONS", "/v1/translate/", 404, "");
    expect("GET", "", 404, "");
    expect("GET", "/web", 404, "");
    expect("GET", "/web/", 404, "");
    expect("GET", "/web/a/b", 404, "");
    expect("POST", "/web/a.js", 405, "GET, HEAD, OPTIONS");
}

/* A slash at the end counts in our own paths alone. */
static void slash_at_the_end(void **state)
{
    static const struct {
        const char *method, *path, *route;
    } cases[] = {
        {"POST", "/v2/document/", "/v2/document"}, /* DeepL's Java client */
        {"POST", "/v2/document/a/", "/v2/document/{id}"},
        {"GET", "/language/translate/v2/", "/language/translate/v2"}, /* Weblate */
        {"HEAD", "/languages/", "/languages"},
        {"POST", "/v2/document//", NULL},
        {"POST", "/v2/document/a/b/", NULL},
        {"POST", "/v1/translate/", NULL},
        {"GET", "//", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char allow[64];
        int got = 0;
        const struct dg_dialect *dialect;
        const struct dg_route *r =
            dg_routes_find(cases[i].method, cases[i].path, "all", &got, allow, &dialect);
        assert_int_equal(got, cases[i].route ? 200 : 404);
        if (r)
            assert_string_equal(r->path, cases[i].route);
        dg_routes_find(cases[i].method, cases[i].path, "none", &got, allow, &dialect);
        assert_int_equal(got, 404);
    }
}

/* Each method and path occurs once; paths are absolute; methods are those that find compares. */
static void table_is_sound(void **state)
{
    size_t n;
    const struct dg_route *table = dg_routes(&n);
    (void)state;
    assert_true(n >= 7);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(table[i].path[0], '/');
        assert_int_equal(
            (table[i].handle != NULL) + (table[i].endpoint != NULL) + (table[i].answer != NULL), 1);
        assert_non_null(strstr("GET POST PUT PATCH DELETE", table[i].method));
        for (size_t j = 0; j < i; j++)
            assert_false(
                !strcmp(table[i].method, table[j].method) && !strcmp(table[i].path, table[j].path));
    }
}

static const struct dg_route *route_of(const char *method, const char *path)
{
    char allow[64];
    int status;
    const struct dg_dialect *dialect;
    const struct dg_route *r = dg_routes_find(method, path, "all", &status, allow, &dialect);
    assert_non_null(r);
    return r;
}

static unsigned scope_of(const char *method, const char *path, bool pages_open)
{
    return dg_routes_scope(route_of(method, path), pages_open);
}

/* Pages about the server need no key, unless they are closed. */
static void scopes(void **state)
{
    const unsigned any = DG_SCOPE_TRANSLATE | DG_SCOPE_ADMIN;
    (void)state;
    assert_int_equal(scope_of("GET", "/livez", false), 0);
    assert_int_equal(scope_of("GET", "/metrics", true), 0);
    assert_int_equal(scope_of("HEAD", "/metrics", true), 0);
    assert_int_equal(scope_of("GET", "/metrics", false), any);
    assert_int_equal(scope_of("GET", "/download_file/a.txt", true), 0);
    assert_int_equal(scope_of("GET", "/v1/usage", true), any);
    assert_int_equal(scope_of("POST", "/v2/usage", true), any);
    assert_int_equal(scope_of("POST", "/v1/models/reload", true), DG_SCOPE_ADMIN);
    assert_int_equal(scope_of("GET", "/v1/status", true), DG_SCOPE_ADMIN);
    /* translating by GET is work */
    assert_int_equal(scope_of("GET", "/language/translate/v2", true), DG_SCOPE_TRANSLATE);
    assert_int_equal(scope_of("GET", "/v3/glossaries", true), DG_SCOPE_TRANSLATE);
    assert_int_equal(scope_of("POST", "/v1/translate", true), DG_SCOPE_TRANSLATE);
}

static void kinds_of_routes(void **state)
{
    (void)state;
    assert_true(route_of("POST", "/v2/document/")->flags & DG_ROUTE_UPLOAD);
    assert_false(route_of("POST", "/v2/document/a")->flags & DG_ROUTE_UPLOAD);
    assert_true(dg_routes_need_models(route_of("POST", "/v1/translate")));
    assert_true(dg_routes_need_models(route_of("GET", "/languages")));
    assert_true(dg_routes_need_models(route_of("POST", "/v2/glossaries")));
    assert_false(dg_routes_need_models(route_of("GET", "/v2/glossaries")));
    assert_true(dg_routes_translate(route_of("GET", "/language/translate/v2")));
    assert_true(dg_routes_translate(route_of("POST", "/v1/documents")));
    assert_false(dg_routes_translate(route_of("POST", "/v2/languages")));
    assert_false(dg_routes_translate(route_of("POST", "/v1/glossaries")));
    assert_false(dg_routes_translate(route_of("POST", "/v1/models/reload")));
    /* DeepL's clients ask for a document's status again and again */
    assert_true(dg_routes_translate(route_of("POST", "/v2/document")));
    assert_false(dg_routes_translate(route_of("POST", "/v2/document/a")));
    assert_false(dg_routes_translate(route_of("POST", "/v2/document/a/result")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds), cmocka_unit_test(slash_at_the_end),
        cmocka_unit_test(table_is_sound), cmocka_unit_test(scopes),
        cmocka_unit_test(kinds_of_routes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
