/* Tests which open bundles have to make room for one that a request waits for, and when. */
#include "server/models/internal.h"
#include "server/models/listing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define N 4

/* Bundles 0 to 2 are open, opened in the order 1, 0, 2; a request needs 0 and waits for 3. */
struct scene {
    struct dg_served served[N];
    struct dg_listing listing[N], *list[N];
    struct dg_models models;
    struct dg_opening opening;
};

static void set(struct scene *s)
{
    const uint64_t opened[N] = {20, 10, 30, 0};
    for (size_t i = 0; i < N; i++) {
        s->list[i] = &s->listing[i];
        s->listing[i].opened_ns = opened[i];
        s->listing[i].open = opened[i] > 0 ? &s->served[i] : NULL;
    }
    s->models.list = s->list;
    s->models.n = N;
    s->opening.listings[0] = &s->listing[3];
    s->opening.listings[1] = &s->listing[0];
    s->opening.n = 2;
}

/* A bit for each bundle that is leaving after this many calls at the same moment. */
static unsigned leaving(struct scene *s, uint64_t waited_ns, int calls)
{
    unsigned bits = 0;
    while (calls-- > 0)
        dg_opening_make_room(&s->models, &s->opening, waited_ns);
    for (size_t i = 0; i < N; i++)
        bits |= (unsigned)s->listing[i].leaving << i;
    return bits;
}

static void one_leaves_for_each_time_of_patience(void **state)
{
    struct scene s = {0};
    (void)state;
    set(&s);
    assert_int_equal(leaving(&s, DG_OPENING_PATIENCE_NS - 1, 10), 0);
    assert_int_equal(leaving(&s, DG_OPENING_PATIENCE_NS, 10), 1u << 1);
    assert_int_equal(leaving(&s, 2 * DG_OPENING_PATIENCE_NS - 1, 10), 1u << 1);
    assert_int_equal(leaving(&s, 2 * DG_OPENING_PATIENCE_NS, 10), 1u << 1 | 1u << 2);
}

static void what_the_request_needs_stays(void **state)
{
    struct scene s = {0};
    (void)state;
    set(&s);
    assert_int_equal(leaving(&s, 100 * DG_OPENING_PATIENCE_NS, 10), 1u << 1 | 1u << 2);
}

static void one_that_was_closed_has_left(void **state)
{
    struct scene s = {0};
    (void)state;
    set(&s);
    assert_int_equal(leaving(&s, DG_OPENING_PATIENCE_NS, 1), 1u << 1);
    s.listing[1].open = NULL;
    assert_int_equal(leaving(&s, DG_OPENING_PATIENCE_NS, 10), 1u << 1);
    assert_int_equal(leaving(&s, 2 * DG_OPENING_PATIENCE_NS, 1), 1u << 1 | 1u << 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_leaves_for_each_time_of_patience),
        cmocka_unit_test(what_the_request_needs_stays),
        cmocka_unit_test(one_that_was_closed_has_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
