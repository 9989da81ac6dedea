/* Bytes that form whole characters: every code point's UTF-8 is allowed, nothing else is, and no
 * byte is allowed that cannot be completed. The text library's own check is the reference. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/byte_pieces.h"
#include "text/utf8.h"

enum { FIRST = 3, V = FIRST + 256 + 2, WORD = V - 1 };

static struct dg_byte_pieces *open_pieces(int32_t id[256])
{
    struct dg_byte_pieces *p = NULL;
    for (int b = 0; b < 256; b++)
        id[b] = FIRST + b;
    assert_int_equal(dg_byte_pieces_open(id, V, &p, NULL), 0);
    assert_non_null(p);
    return p;
}

/* Counts the characters that begin with bytes ids[n] of a search under the rule; the text library's
 * own check must accept each. */
static long count_from(const struct dg_byte_rule *r, int32_t *ids, uint32_t n)
{
    long found = 0;
    char s[4];
    if (n && !dg_byte_rule_within(r, ids, n)) {
        for (uint32_t i = 0; i < n; i++)
            s[i] = (char)(ids[i] - FIRST);
        assert_int_equal(dg_utf8_check(s, n, NULL), 0);
        return 1;
    }
    for (int b = 0; b < 256; b++)
        if (n < 4 && dg_byte_rule_allows(r, ids, n, FIRST + b, 4)) {
            ids[n] = FIRST + b;
            found += count_from(r, ids, n + 1);
        }
    return found;
}

static void every_character_and_no_more(void **state)
{
    (void)state;
    int32_t id[256], ids[4];
    struct dg_byte_pieces *p = open_pieces(id);
    const struct dg_byte_rule r = dg_byte_rule_of(p, NULL, 0);
    /* All code points except surrogates, control characters below space, DEL and those after it. */
    assert_int_equal(count_from(&r, ids, 0), 0x110000 - 0x800 - 0x20 - 1 - 0x20);
    dg_byte_pieces_close(p);
}

static void nothing_cuts_a_character(void **state)
{
    (void)state;
    int32_t id[256];
    struct dg_byte_pieces *p = open_pieces(id);
    const struct dg_byte_rule r = dg_byte_rule_of(p, NULL, 0);
    const int32_t cut[] = {WORD, FIRST + 0xE2, FIRST + 0x82}, whole[] = {WORD, FIRST + 0x41};
    assert_true(dg_byte_rule_within(&r, cut, 2));
    assert_true(dg_byte_rule_within(&r, cut, 3));
    assert_false(dg_byte_rule_allows(&r, cut, 3, WORD, 9));
    assert_false(dg_byte_rule_allows(&r, cut, 3, FIRST + 0x20, 9));
    assert_true(dg_byte_rule_allows(&r, cut, 3, FIRST + 0xAC, 0));
    assert_false(dg_byte_rule_within(&r, cut, 1));
    assert_true(dg_byte_rule_allows(&r, cut, 1, WORD, 0));
    assert_false(dg_byte_rule_allows(&r, whole, 2, FIRST + 0x80, 9));
    /* "€" needs three positions, "😀" four. */
    assert_true(dg_byte_rule_allows(&r, cut, 1, FIRST + 0xE2, 2));
    assert_false(dg_byte_rule_allows(&r, cut, 1, FIRST + 0xE2, 1));
    assert_true(dg_byte_rule_allows(&r, cut, 0, FIRST + 0xF0, 3));
    assert_false(dg_byte_rule_allows(&r, cut, 0, FIRST + 0xF0, 2));
    dg_byte_pieces_close(p);
}

/* A shortlist without continuation bytes allows no lead byte, either. */
static void a_list_leads_nowhere(void **state)
{
    (void)state;
    int32_t id[256];
    struct dg_byte_pieces *p = open_pieces(id);
    const int32_t list[] = {1, FIRST + 'a', FIRST + 0x95, FIRST + 0xC3, FIRST + 0xE0, FIRST + 0xE2};
    const struct dg_byte_rule r = dg_byte_rule_of(p, list, 6), none = dg_byte_rule_of(p, list, 2);
    assert_true(dg_byte_rule_allows(&r, NULL, 0, FIRST + 'a', 0));
    assert_true(dg_byte_rule_allows(&r, NULL, 0, FIRST + 0xC3, 1));
    assert_true(dg_byte_rule_allows(&r, NULL, 0, FIRST + 0xE2, 2));
    assert_false(dg_byte_rule_allows(&r, NULL, 0, FIRST + 0xE0, 2)); /* 0x95 would be overlong */
    assert_false(dg_byte_rule_allows(&none, NULL, 0, FIRST + 0xC3, 1));
    dg_byte_pieces_close(p);
}

static void forbids_what_it_does_not_allow(void **state)
{
    (void)state;
    int32_t id[256];
    struct dg_byte_pieces *p = open_pieces(id);
    const struct dg_byte_rule r = dg_byte_rule_of(p, NULL, 0), none = {0};
    const int32_t ids[] = {WORD, FIRST + 0xF0, FIRST + 0x9F};
    for (uint32_t n = 0; n <= 3; n++)
        for (uint32_t room = 0; room < 4; room++) {
            float x[V] = {0};
            dg_byte_rule_forbid(&none, ids, n, room, x, V);
            dg_byte_rule_forbid(&r, ids, n, room, x, V);
            for (int i = 0; i < V; i++)
                assert_int_equal(x[i] == 0, dg_byte_rule_allows(&r, ids, n, i, room));
        }
    assert_true(dg_byte_rule_allows(&none, ids, 3, WORD, 0));
    assert_false(dg_byte_rule_within(&none, ids, 3));
    dg_byte_pieces_close(p);
}

static void without_bytes_there_is_nothing(void **state)
{
    (void)state;
    int32_t id[256];
    struct dg_byte_pieces *p = open_pieces(id);
    dg_byte_pieces_close(p);
    for (int b = 0; b < 256; b++)
        id[b] = -1;
    assert_int_equal(dg_byte_pieces_open(id, V, &p, NULL), 0);
    assert_null(p);
    dg_byte_pieces_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_and_no_more),
        cmocka_unit_test(nothing_cuts_a_character),
        cmocka_unit_test(a_list_leads_nowhere),
        cmocka_unit_test(forbids_what_it_does_not_allow),
        cmocka_unit_test(without_bytes_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
