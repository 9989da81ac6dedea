/* trainer/align/masks.h: placeholders for what both sides share. */
#include "trainer/align/masks.h"

#include "trainer/data/reserved.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct dg_recipe *recipe(const char *variants)
{
    struct dg_recipe *r = NULL;
    struct dg_error err = {0};
    char text[512];
    snprintf(text, sizeof text,
        "{\"preset\":\"small\",\"vocabulary\":{\"reserved\":4},\"data\":{\"pairs\":[{\"source_"
        "lang\":\"en\",\"target_lang\":\"de\",\"train\":[{\"source\":\"a\",\"target\":\"b\"}]}]},"
        "\"variants\":%s}",
        variants);
    if (dg_recipe_parse(text, strlen(text), "", "", &r, &err))
        fail_msg("%s", err.message);
    return r;
}

static struct dg_pair pair(const char *source, const char *target)
{
    return (struct dg_pair){.source = source,
        .target = target,
        .source_len = (uint32_t)strlen(source),
        .target_len = (uint32_t)strlen(target),
        .weight = 1};
}

/* Returns the form as "source|target", masks as [1], [2]; "" if there is none. */
static const char *form(
    struct dg_masks *m, struct dg_pair *p, uint64_t item, enum dg_mask_kind kind)
{
    static char out[512];
    struct dg_pair f;
    p->item = item;
    size_t n = 0;
    int made = dg_masks_make(m, p, kind, &f);
    assert_true(made > 0);
    if (made == 1)
        assert_int_equal(f.masked, kind == DG_MASK_PIECES);
    for (int side = 0; side < 2 && made == 1; side++) {
        const char *s = side ? f.target : f.source;
        for (size_t i = 0; i < (side ? f.target_len : f.source_len); i++)
            n += dg_reserved_is(s[i])
                     ? (size_t)sprintf(out + n, "[%d]", s[i] - DG_RESERVED_FIRST + 1)
                     : (size_t)sprintf(out + n, "%c", s[i]);
        n += (size_t)sprintf(out + n, side ? "" : "|");
    }
    out[n] = '\0';
    return out;
}

/* Learns a dictionary that knows "window" and "river" from sentences of them. */
static struct dg_dictionary *learn(void)
{
    static const char *const en[] = {"window", "green", "river", "bicycle"};
    static const char *const de[] = {"Fenster", "grün", "Fluss", "Fahrrad"};
    char dir[] = "/tmp/test_masks.XXXXXX";
    assert_non_null(mkdtemp(dir));
    struct dg_pairs *pairs;
    struct dg_dictionary *d;
    assert_int_equal(dg_pairs_open(dir, &pairs, NULL), 0);
    for (int i = 0; i < 64; i++) {
        char s[128], t[128];
        snprintf(s, sizeof s, "see %s %s %s", en[i % 4], en[i / 4 % 4], en[i / 16 % 4]);
        snprintf(t, sizeof t, "sieh %s %s %s", de[i % 4], de[i / 4 % 4], de[i / 16 % 4]);
        const struct dg_pair p = pair(s, t);
        assert_int_equal(dg_pairs_add(pairs, &p, NULL), 0);
    }
    const struct dg_dictionary_options o = {.dir = dir, .source_lang = "en", .target_lang = "de"};
    assert_int_equal(dg_dictionary_learn(pairs, &o, &d, NULL), 0);
    dg_pairs_close(pairs);
    rmdir(dir);
    return d;
}

static void test_what_is_kept(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("{\"mask\":1,\"signs\":0}");
    struct dg_masks *m = dg_masks_new(r, NULL);
    struct dg_pair p = pair("To a@b.org, %s", "%s an a@b.org");
    bool from_one = false, other = false;
    for (uint64_t item = 0; item < 40; item++) { /* always both masks, in the source's order */
        const char *f = form(m, &p, item, DG_MASK_PIECES);
        from_one |= !strcmp(f, "To [1], [2]|[2] an [1]");
        other |= !strcmp(f, "To [3], [4]|[4] an [3]") || !strcmp(f, "To [4], [1]|[1] an [4]");
        assert_true(strlen(f) == strlen("To [1], [2]|[2] an [1]"));
        assert_string_equal(form(m, &p, item, DG_MASK_SIGNS), ""); /* its share is 0 */
    }
    assert_true(from_one && other);
    p = pair("To a@b.org and a@b.org", "an a@b.org"); /* occurs twice: ambiguous */
    assert_string_equal(form(m, &p, 0, DG_MASK_PIECES), "");
    p = pair("nothing at all", "gar nichts");
    assert_string_equal(form(m, &p, 0, DG_MASK_PIECES), "");
    p = pair("The Eurostar departs.", "Der Eurostar startet."); /* hardly anything would be left */
    assert_string_equal(form(m, &p, 0, DG_MASK_PIECES), "");
    p = pair("Just take the Eurostar.", "Nimm den Eurostar.");
    char f[128];
    snprintf(f, sizeof f, "%s", form(m, &p, 0, DG_MASK_PIECES));
    assert_non_null(strstr(f, "Just take the ["));
    assert_non_null(strstr(f, "].|Nimm den ["));
    dg_masks_free(m);
    dg_recipe_free(r);
}

static void test_words(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("{\"mask\":1,\"signs\":1}");
    struct dg_dictionary *d = learn();
    struct dg_masks *m = dg_masks_new(r, &d);
    struct dg_pair p =
        pair("At home he had a window by the river.", "Zuhause hatte er ein Fenster am Fluss.");
    bool window = false, river = false, both = false;
    for (uint64_t item = 0; item < 60; item++) {
        const char *f = form(m, &p, item, DG_MASK_PIECES);
        window |=
            !strcmp(f, "At home he had a [1] by the river.|Zuhause hatte er ein [1] am Fluss.");
        river |=
            !strcmp(f, "At home he had a window by the [1].|Zuhause hatte er ein Fenster am [1].");
        both |= !strcmp(f, "At home he had a [1] by the [2].|Zuhause hatte er ein [1] am [2].");
    }
    assert_true(window && river && both);
    p = pair("A window, a window.", "Ein Fenster, ein Fenster.");
    assert_string_equal(form(m, &p, 0, DG_MASK_PIECES), "");
    p = pair("The bicycle.", "Das Fahrradschloss."); /* part of another word */
    assert_string_equal(form(m, &p, 0, DG_MASK_PIECES), "");
    p = pair("The bicycle.", "Das Fahrrad.");
    char first[128];
    snprintf(first, sizeof first, "%s", form(m, &p, 5, DG_MASK_SIGNS));
    assert_string_equal(first, form(m, &p, 5, DG_MASK_SIGNS));
    assert_null(strstr(first, "bicycle"));
    /* the same characters on both sides, none of them ASCII */
    const char *sign = first + strlen("The ");
    const size_t n = strcspn(sign, ".");
    assert_true(n >= 2 && (unsigned char)sign[0] >= 0xC2);
    assert_memory_equal(strchr(first, '|') + strlen("|Das "), sign, n);
    dg_masks_free(m);
    dg_dictionary_close(d);
    dg_recipe_free(r);
}

static void test_shares(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("{\"mask\":0.25}");
    struct dg_pair p = pair("Hamburg and the rest", "Hamburg und das");
    unsigned n = 0;
    struct dg_masks *m = dg_masks_new(r, NULL);
    for (uint64_t item = 0; item < 4000; item++)
        n += form(m, &p, item, DG_MASK_PIECES)[0] != '\0';
    assert_in_range(n, 880, 1120); /* 1,000 expected, deviation 27 */
    dg_masks_free(m);
    dg_recipe_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_kept),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
