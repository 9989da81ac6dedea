/* A recipe's texts that a bundle's manifest would refuse after all training are refused before it.
 */
#include "trainer/recipe/recipe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

struct texts {
    const char *source_lang, *target_lang, *description, *licence;
    /* what refuses them, or NULL */
    const char *field, *message;
};

static const struct texts all[] = {
    {"en", "de", "Wörter", "", NULL, NULL},
    {"en us", "de", "", "", "data.pairs[0].source_lang", "has \"en us\", expected a language tag"},
    {"en", "de/at", "", "", "data.pairs[0].target_lang", "has \"de/at\""},
    {"en", "de", "two\\nlines", "", "output.description",
        "output.description holds a control character"},
    {"en", "de", "", "a\\tb", "output.licence", "control character"},
};

static void test_manifest_takes_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct texts *t = &all[i];
        char text[512];
        struct dg_recipe *r;
        struct dg_error err = {0};
        snprintf(text, sizeof text,
            "{\"data\":{\"pairs\":[{\"source_lang\":\"%s\",\"target_lang\":\"%s\",\"train\":[{"
            "\"source\":\"a\",\"target\":\"b\"}]}]},\"output\":{\"description\":\"%s\","
            "\"licence\":\"%s\"}}",
            t->source_lang, t->target_lang, t->description, t->licence);
        const int rc = dg_recipe_parse(text, strlen(text), "", "", &r, &err);
        assert_int_equal(rc, t->field ? DG_EINVAL : DG_OK);
        assert_string_equal(err.field, t->field ? t->field : "");
        if (t->message && !strstr(err.message, t->message))
            fail_msg("\"%s\" is not in \"%s\"", t->message, err.message);
        if (!t->field)
            assert_string_equal(r->output.description, t->description);
        dg_recipe_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_manifest_takes_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
