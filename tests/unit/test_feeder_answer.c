/* What a fed request counts of its items: their usage, and the characters that its key pays for. */
#include "server/request/feeder_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define RESERVED 100 /* bytes that the request has for its answers */

static const char *answer; /* what the next item's writer writes */
static bool fails;         /* it fails afterwards */

static int write_it(struct dg_item *item, struct dg_arena *arena, struct dg_error *err)
{
    (void)arena;
    item->request->usage.source_characters += item->source_characters;
    item->request->usage.source_tokens += 3;
    item->request->usage.target_tokens += 4;
    dg_buffer_adds(&item->answer, answer);
    return fails ? dg_error_set(err, DG_EINVAL, "no answer") : DG_OK;
}

static void write_error(struct dg_item *item, const struct dg_error *err)
{
    dg_buffer_reset(&item->answer);
    dg_buffer_adds(&item->answer, err->code == DG_EAGAIN ? "overloaded" : "error");
}

static const struct dg_request_kind kind = {
    .fed = true, .write = write_it, .write_error = write_error};

/* Opens a request of n answered items of five characters. x stands for a client, whose requests the
 * memory's limit holds for. */
static struct dg_request *open_request(struct dg_app *app, size_t n)
{
    static char x;
    struct dg_request *r;
    struct dg_error err = {0};
    assert_int_equal(dg_request_open(app, NULL, &kind, &r, &err), DG_OK);
    assert_int_equal(dg_request_make_items(r, n, &err), DG_OK);
    for (size_t i = 0; i < n; i++) {
        r->items[i].characters = r->items[i].source_characters = 5;
        r->items[i].answered = true;
    }
    r->x = (struct dg_http_exchange *)(void *)&x;
    r->reserved = RESERVED;
    return r;
}

static void close_request(struct dg_request *r)
{
    r->x = NULL;
    dg_request_free(r);
}

static void expect(const struct dg_request *r, size_t i, const char *written, size_t items)
{
    const struct dg_buffer *b = &r->items[i].answer;
    assert_int_equal(b->len, strlen(written));
    assert_memory_equal(b->data, written, b->len);
    assert_int_equal(r->answered, 5 * items);
    assert_int_equal(r->usage.source_characters, 5 * items);
    assert_int_equal(r->usage.source_tokens, 3 * items);
    assert_int_equal(r->usage.target_tokens, 4 * items);
}

static void only_answers_that_are_kept_count(void **state)
{
    struct dg_app app = {.budget.most = 0}; /* other requests use all the rest */
    struct dg_request *r = open_request(&app, 4);
    struct dg_error err = {0};
    char long_one[2 * RESERVED];
    (void)state;
    memset(long_one, 'a', sizeof long_one);
    long_one[sizeof long_one - 1] = '\0';
    fails = false;
    answer = "short";
    dg_feeder_answer(&r->items[0], &err);
    assert_int_equal(err.code, DG_OK);
    expect(r, 0, "short", 1);
    answer = long_one;
    dg_feeder_answer(&r->items[1], &err);
    assert_int_equal(err.code, DG_EAGAIN);
    expect(r, 1, "overloaded", 1);
    dg_error_clear(&err);
    r->shape = DG_SHAPE_LINES; /* their memory is limited otherwise */
    dg_feeder_answer(&r->items[2], &err);
    assert_int_equal(err.code, DG_OK);
    expect(r, 2, long_one, 2);
    fails = true;
    dg_feeder_answer(&r->items[3], &err);
    assert_int_equal(err.code, DG_EINVAL);
    expect(r, 3, "error", 2);
    close_request(r);
}

static void an_item_that_failed_before_does_not_count(void **state)
{
    struct dg_app app = {.budget.most = 0};
    struct dg_request *r = open_request(&app, 1);
    struct dg_error err = {0};
    (void)state;
    dg_error_set(&err, DG_EINVAL, "wrong");
    dg_feeder_answer(&r->items[0], &err);
    expect(r, 0, "error", 0);
    close_request(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_answers_that_are_kept_count),
        cmocka_unit_test(an_item_that_failed_before_does_not_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
