/* The heap against a linear search of a list. */
#include "server/schedule/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define N 500

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static struct dg_heap_node *smallest(struct dg_heap_node *all, const bool *in)
{
    struct dg_heap_node *best = NULL;
    for (size_t i = 0; i < N; i++)
        if (in[i] && (!best || all[i].key < best->key ||
                         (all[i].key == best->key && all[i].turn < best->turn)))
            best = &all[i];
    return best;
}

static void as_a_list(void **state)
{
    struct dg_heap h = {0};
    struct dg_heap_node all[N] = {0};
    bool in[N] = {false};
    uint32_t rng = 1;
    size_t n = 0;
    (void)state;
    assert_null(dg_heap_first(&h));
    for (int k = 0; k < 20000; k++) {
        size_t i = draw(&rng) % N;
        if (in[i]) {
            dg_heap_remove(&h, &all[i]);
            n--;
        } else {
            all[i] = (struct dg_heap_node){.key = draw(&rng) % 50};
            assert_true(dg_heap_reserve(&h, 1));
            dg_heap_put(&h, &all[i]);
            n++;
        }
        in[i] = !in[i];
        assert_int_equal(h.n, n);
        assert_ptr_equal(dg_heap_first(&h), smallest(all, in));
    }
    dg_heap_free(&h);
}

/* Among equal keys the first stays first, even after it was removed and added again. */
static void places_are_kept(void **state)
{
    struct dg_heap h = {0};
    struct dg_heap_node all[3] = {{.key = 7}, {.key = 7}, {.key = 7}};
    (void)state;
    assert_true(dg_heap_reserve(&h, 3));
    for (int i = 0; i < 3; i++)
        dg_heap_put(&h, &all[i]);
    dg_heap_remove(&h, &all[0]);
    assert_ptr_equal(dg_heap_first(&h), &all[1]);
    dg_heap_put(&h, &all[0]);
    assert_ptr_equal(dg_heap_first(&h), &all[0]);
    dg_heap_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_list), cmocka_unit_test(places_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
