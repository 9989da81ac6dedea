/* Additional forms of training pairs: which ones, how many, and that they are the same each
 * time. */
#include "trainer/align/variants.h"
#include "trainer/prepare/prepare_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct dg_recipe *recipe(const char *variants)
{
    struct dg_recipe *r = NULL;
    struct dg_error err = {0};
    char text[512];
    snprintf(text, sizeof text,
        "{\"preset\":\"small\",\"data\":{\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"de\","
        "\"train\":[{\"source\":\"a\",\"target\":\"b\"}]}]},\"variants\":%s}",
        variants);
    if (dg_recipe_parse(text, strlen(text), "", "", &r, &err))
        fail_msg("%s", err.message);
    return r;
}

static struct dg_pair pair(const char *source, const char *target)
{
    return (struct dg_pair){.source = source,
        .source_len = (uint32_t)strlen(source),
        .target = target,
        .target_len = (uint32_t)strlen(target),
        .weight = 2};
}

/* Makes all forms of one pair, each as "source|target". */
static size_t forms(struct dg_variants *v, struct dg_pair *p, uint64_t item, char out[3][256])
{
    struct dg_pair form;
    size_t n = 0;
    int got;
    p->item = item;
    for (int kind = 0; (got = dg_variants_make(v, p, kind, &form, NULL)); kind++) {
        assert_true(got > 0);
        if (got == 2)
            continue;
        snprintf(out[n++], 256, "%.*s|%.*s", (int)form.source_len, form.source,
            (int)form.target_len, form.target);
        assert_true(form.weight == p->weight);
    }
    return n;
}

static void test_forms(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("{\"upper\":1,\"no_full_stop\":1,\"joined\":1}");
    struct dg_variants v;
    char out[3][256];
    struct dg_pair a = pair("The street is wet.", "Die Straße ist naß."),
                   b = pair("Why?", "Wieso?"), c = pair("Wait...", "Warte ...");
    dg_variants_init(&v, r, NULL);
    assert_true(dg_variants_wanted(r));
    assert_int_equal(forms(&v, &a, 0, out), 2); /* no pair before it to join */
    assert_string_equal(out[0], "THE STREET IS WET.|DIE STRASSE IST NASS.");
    assert_string_equal(out[1], "The street is wet|Die Straße ist naß");
    dg_variants_next(&v, &a);
    assert_int_equal(forms(&v, &b, 1, out), 2); /* no full stop to leave out */
    assert_string_equal(out[0], "WHY?|WIESO?");
    assert_string_equal(out[1], "The street is wet. Why?|Die Straße ist naß. Wieso?");
    dg_variants_next(&v, &b);
    c.file = 1; /* another file: no neighbour */
    assert_int_equal(forms(&v, &c, 2, out), 1);
    assert_string_equal(out[0], "WAIT...|WARTE ...");
    dg_variants_deinit(&v);
    dg_recipe_free(r);
}

static void test_numbers(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("{\"numbers\":1}");
    struct dg_variants v;
    char out[3][256], again[3][256];
    struct dg_pair p = pair(
        "On 12 March 2024, 3 of 77: 50, 50; 1,250.", "Am 12. März 2024 3 von 78: 50, 50; 1.250.");
    dg_variants_init(&v, r, NULL);
    assert_true(dg_variants_wanted(r));
    assert_int_equal(forms(&v, &p, 5, out), 1);
    int day[2], year[2], grams[2];
    int n = sscanf(out[0],
        "On %d March %d, 3 of 77: 50, 50; 1,%d.|Am %d. März %d 3 von 78: 50, 50; 1.%d.", &day[0],
        &year[0], &grams[0], &day[1], &year[1], &grams[1]);
    assert_int_equal(n, 6);
    assert_int_equal(day[0], day[1]);
    assert_int_equal(year[0], year[1]);
    assert_int_equal(grams[0], grams[1]);
    assert_in_range(day[0], 10, 19);
    assert_in_range(year[0], 2000, 2999);
    assert_true(year[0] != 2024 || day[0] != 12);
    forms(&v, &p, 5, again);
    assert_string_equal(out[0], again[0]);
    struct dg_pair none = pair("7 of 8, 12", "7 von 8, 13");
    assert_int_equal(forms(&v, &none, 6, out), 0);
    dg_variants_deinit(&v);
    dg_recipe_free(r);
}

static void test_shares(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("{\"upper\":0.1}"), *none = recipe("{}");
    struct dg_variants v, again;
    char out[3][256], other[3][256];
    struct dg_pair p = pair("Yes.", "Ja.");
    size_t n = 0;
    assert_false(dg_variants_wanted(none));
    dg_variants_init(&v, r, NULL);
    dg_variants_init(&again, r, NULL);
    for (uint64_t i = 0; i < 10000; i++) {
        size_t got = forms(&v, &p, i, out);
        assert_int_equal(got, forms(&again, &p, i, other));
        n += got;
    }
    assert_in_range(n, 900, 1100);
    dg_variants_deinit(&v);
    dg_variants_deinit(&again);
    dg_recipe_free(r);
    dg_recipe_free(none);
}

/* Later fields are left out where they are 0, so that data prepared before stays valid. Leaving out
 * forms that are held-out lines changes the data. */
static void test_what_decides_the_data(void **state)
{
    (void)state;
    struct dg_recipe *old = recipe("{\"upper\":0.1}"),
                     *new = recipe("{\"words\":2,\"numbers\":0.5}");
    struct dg_json *a = dg_prepare_data_part(old), *b = dg_prepare_data_part(new);
    assert_int_equal(dg_json_length(dg_json_get(a, "variants")), 4);
    assert_non_null(dg_json_get(dg_json_get(a, "variants"), "overlap"));
    assert_non_null(dg_json_get(dg_json_get(b, "variants"), "words"));
    assert_non_null(dg_json_get(dg_json_get(b, "variants"), "numbers"));
    dg_json_free(a);
    dg_json_free(b);
    dg_recipe_free(old);
    dg_recipe_free(new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_shares), cmocka_unit_test(test_what_decides_the_data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
