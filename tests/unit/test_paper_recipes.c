/* The shipped recipes, above all the paper's. */
#include "model/params.h"
#include "trainer/recipe/recipe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* The paper's own figures for the rows of Table 3 that print one, in millions; E and the others as
 * base. A vocabulary of 41,000 matches all of them to their rounding, for big 36,000; the text says
 * "about 37000". */
static void test_table3(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double millions;
        int64_t updates;
    } rows[] = {{"base", 65, 100000}, {"b-dk16", 58, 100000}, {"b-dk32", 60, 100000},
        {"c-n2", 36, 100000}, {"c-n4", 50, 100000}, {"c-n8", 80, 100000}, {"c-d256", 28, 100000},
        {"c-d1024", 168, 100000}, {"c-ff1024", 53, 100000}, {"c-ff4096", 90, 100000},
        {"big", 213, 300000}, {"a-h1", 65, 100000}, {"a-h32", 65, 100000},
        {"e-learned", 65, 100000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[128];
        struct dg_recipe *r;
        struct dg_config c;
        struct dg_error err = {0};
        snprintf(path, sizeof path, "trainer/recipes/paper/table3/%s.json", rows[i].name);
        assert_int_equal(dg_recipe_load(path, "", NULL, 0, &r, &err), 0);
        uint32_t V = strcmp(rows[i].name, "big") ? 41000 : 36000;
        assert_int_equal(dg_recipe_config(r, V, V, 0, 1, &c, &err), 0);
        double millions = (double)dg_params_elements(&c) / 1e6;
        if (millions < rows[i].millions - 0.6 || millions > rows[i].millions + 0.6)
            fail_msg("%s has %.1f million parameters, the paper prints %.0f", rows[i].name,
                millions, rows[i].millions);
        assert_int_equal(r->training.updates, rows[i].updates);
        assert_int_equal(r->training.average_last, 1);
        assert_int_equal(c.start, -1);
        dg_recipe_free(r);
    }
}

static size_t load_folder(const char *dir)
{
    DIR *d = opendir(dir);
    size_t n = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[512];
        struct dg_recipe *r;
        struct dg_error err = {0};
        size_t len = strlen(e->d_name);
        if (len < 5 || strcmp(e->d_name + len - 5, ".json"))
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (dg_recipe_load(path, "", NULL, 0, &r, &err))
            fail_msg("%s", err.message);
        dg_recipe_free(r);
        n++;
    }
    closedir(d);
    return n;
}

static void test_all_shipped_recipes_load(void **state)
{
    (void)state;
    assert_true(load_folder("trainer/recipes") >= 5);
    assert_int_equal(load_folder("trainer/recipes/paper"), 8);
    assert_int_equal(load_folder("trainer/recipes/paper/since"), 3);
    assert_int_equal(load_folder("trainer/recipes/paper/table3"), 20);
}

/* Section 6.1: beam 4 and alpha 0.6, whatever the dev sets say, and the whole vocabulary. */
static void test_the_paper_s_search(void **state)
{
    (void)state;
    static const char *const rows[] = {"paper-base-ende", "paper-big-ende", "paper-big-enfr",
        "trainer/recipes/paper/base-ende.json", "trainer/recipes/paper/base-enfr.json",
        "trainer/recipes/paper/big-ende.json", "trainer/recipes/paper/big-enfr.json",
        "trainer/recipes/paper/table3/base.json", "trainer/recipes/paper/table3/big.json",
        "trainer/recipes/paper/since/ssru.json"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dg_recipe *r;
        struct dg_error err = {0};
        if (dg_recipe_load(rows[i], "", NULL, 0, &r, &err))
            fail_msg("%s", err.message);
        assert_int_equal(r->validation.calibrate, 0);
        assert_int_equal(r->validation.shortlist, 0);
        assert_int_equal(r->validation.beam, 4);
        assert_true(r->validation.alpha == 0.6);
        dg_recipe_free(r);
    }
}

/* Users' recipes may extend shipped ones by their original names. */
static void test_moved_recipes_are_found(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"trainer/recipes/paper-base-ende.json", "paper-base-en-de"},
        {"trainer/recipes/paper-big-enfr.json", "paper-big-en-fr"},
        {"trainer/recipes/table3/big.json", "table3-big"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dg_recipe *r;
        struct dg_error err = {0};
        char text[128];
        if (dg_recipe_load(rows[i][0], "", NULL, 0, &r, &err))
            fail_msg("%s", err.message);
        assert_string_equal(r->name, rows[i][1]);
        uint32_t D = r->model.D;
        dg_recipe_free(r);
        snprintf(text, sizeof text, "{\"extends\":\"%s\"}", rows[i][0]);
        if (dg_recipe_parse(text, strlen(text), "", "", &r, &err))
            fail_msg("%s", err.message);
        assert_int_equal(r->model.D, D);
        dg_recipe_free(r);
    }
    struct dg_recipe *none;
    struct dg_error err = {0};
    assert_int_not_equal(
        dg_recipe_load("trainer/recipes/table3/none.json", "", NULL, 0, &none, &err), 0);
    assert_non_null(strstr(err.message, "trainer/recipes/table3/none.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table3),
        cmocka_unit_test(test_the_paper_s_search),
        cmocka_unit_test(test_all_shipped_recipes_load),
        cmocka_unit_test(test_moved_recipes_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
