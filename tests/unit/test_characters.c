/* Finds the western characters that are too rare in a text to be learned. */
#include "trainer/data/characters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Returns how often the character, in UTF-8, was seen. */
static uint64_t seen_of(const uint64_t *seen, const char *character)
{
    struct dg_buffer b;
    uint64_t n = UINT64_MAX;
    for (uint32_t i = 0; i < dg_characters_count(); i++) {
        dg_buffer_init(&b);
        dg_characters_add(dg_characters_at(i), &b);
        if (b.len == strlen(character) && !memcmp(b.data, character, b.len))
            n = seen[i];
        dg_buffer_deinit(&b);
    }
    return n;
}

static void all_are_found(void **state)
{
    uint64_t *seen = calloc(dg_characters_count(), sizeof *seen);
    struct dg_buffer text;
    (void)state;
    dg_buffer_init(&text);
    for (uint32_t i = 0; i < dg_characters_count(); i++)
        dg_characters_add(dg_characters_at(i), &text);
    dg_characters_tally(text.data, text.len, seen);
    for (uint32_t i = 0; i < dg_characters_count(); i++)
        assert_int_equal(seen[i], dg_characters_at(i) >= 0x80);
    dg_buffer_deinit(&text);
    free(seen);
}

static void others_count_for_none(void **state)
{
    uint64_t *seen = calloc(dg_characters_count(), sizeof *seen);
    static const char text[] = "Größe: 5 €, наука, 数, 😀, ö";
    uint64_t sum = 0;
    (void)state;
    dg_characters_tally(text, strlen(text), seen);
    for (uint32_t i = 0; i < dg_characters_count(); i++)
        sum += seen[i];
    assert_int_equal(sum, 4);
    assert_int_equal(seen_of(seen, "ö"), 2);
    assert_int_equal(seen_of(seen, "ß"), 1);
    assert_int_equal(seen_of(seen, "€"), 1);
    assert_int_equal(seen_of(seen, "é"), 0);
    free(seen);
}

static void seldom_ones_are_listed(void **state)
{
    uint64_t *seen = calloc(dg_characters_count(), sizeof *seen);
    struct dg_buffer rare;
    (void)state;
    for (int i = 0; i < DG_CHARACTERS_SELDOM; i++)
        dg_characters_tally("ö", 2, seen);
    for (int i = 1; i < DG_CHARACTERS_SELDOM; i++)
        dg_characters_tally("ł", 2, seen);
    dg_buffer_init(&rare);
    dg_characters_seldom(seen, &rare);
    dg_buffer_add(&rare, "", 1);
    assert_non_null(strstr(rare.data, "ł"));
    assert_null(strstr(rare.data, "ö"));
    assert_null(strchr(rare.data, 'x')); /* ASCII is never copied for being rare */
    dg_buffer_deinit(&rare);
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_are_found),
        cmocka_unit_test(others_count_for_none), cmocka_unit_test(seldom_ones_are_listed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
