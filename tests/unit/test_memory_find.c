/* Which of a translation memory's entries a sentence finds, by their languages. */
#include "database_file.h"
#include "store/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Make a memory of one entry, "Hello.". */
static void make(struct dg_memory *m, const char *target_lang, const char *target)
{
    const struct dg_memory_info wanted = {.kind = DG_MEMORY_SENTENCES, .name = "a"};
    const struct dg_memory_pair pair = {"en", target_lang, "Hello.", target, 6, strlen(target)};
    struct dg_memory_info made;
    assert_int_equal(dg_memory_make(m, &wanted, &pair, 1, &made, NULL), DG_OK);
}

static void expect(struct dg_memory *m, const char *target_lang, const char *target)
{
    const struct dg_memory_pair wanted = {"en", target_lang, "Hello.", NULL, 6, 0};
    struct dg_buffer b;
    dg_buffer_init(&b);
    const int rc = dg_memory_find(m, "", &wanted, &b, NULL);
    assert_int_equal(rc, target ? DG_OK : DG_ENOTFOUND);
    if (target)
        assert_string_equal(b.data, target);
    dg_buffer_deinit(&b);
}

/* Codes that name one language, such as the longer ones of TMX files, find its entries; an entry
 * with exactly the code comes before a newer one. */
static void languages(void **state)
{
    static const struct {
        const char *stored, *asked;
        bool found;
    } cases[] = {{"zh-CN", "zh-Hans", true}, {"zh-Hant-TW", "zh-Hant", true},
        {"zh-TW", "zh-Hans", false}, {"sr-Latn-RS", "sr-Latn", true}, {"sr-Latn", "sr-Cyrl", false},
        {"iw-IL", "he", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_memory *m = NULL;
        assert_int_equal(dg_memory_open(path, true, &m, NULL), DG_OK);
        make(m, cases[i].stored, "near");
        expect(m, cases[i].asked, cases[i].found ? "near" : NULL);
        make(m, cases[i].asked, "exact");
        make(m, cases[i].stored, "near");
        expect(m, cases[i].asked, "exact");
        dg_memory_close(m);
        remove(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(languages, make_path, remove_path)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
