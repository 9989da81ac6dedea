/* A full queue: its speed is measured rather than assumed, and requests that have waited too long
 * are refused when their turn comes. Workers' times are made up, ahead of the clock. */
#include "server/schedule/drain.h"
#include "server/schedule/queue.h"

#include "base/clock.h"
#include "kernels/cpu/cpu.h"
#include "tests/unit/made_task.h"

#include <string.h>
#include <time.h>

#define BUNDLE "tests/data/en-de"
#define MS UINT64_C(1000000)
#define S (1000 * MS)

static void drop(struct dg_queue *q, struct made *m)
{
    dg_queue_cancel(q, &m->task, DG_TASK_GONE);
    unmake(m);
}

/* Opens a queue in which two seconds may wait; unmeasured engines do 2,000 tokens a second. */
static struct dg_queue *open_queue(void)
{
    struct dg_queue_options o = {.max_seconds = 2, .policy = dg_batch_policy_default};
    struct dg_queue *q;
    struct dg_error err = {0};
    assert_int_equal(dg_queue_open(&o, &q, &err), 0);
    return q;
}

static size_t pick(struct dg_queue *q, struct dg_served *model, uint64_t now, uint32_t sentences,
    struct dg_entry **out)
{
    const struct dg_turn turn = {
        .now_ns = now, .room = {.rows = 1000, .knee = 1000, .sentences = sentences, .step = 1}};
    return dg_queue_pick(q, model, &turn, out, N);
}

static void a_speed_is_what_left_while_something_waited(void **state)
{
    struct dg_drain d = {0};
    uint64_t now = S;
    (void)state;
    dg_drain_pass(&d, false, now);
    assert_true(dg_drain_rate(&d) == 0);
    for (int i = 0; i < 100; i++) { /* 100 a second, for ten seconds */
        now += 100 * MS;
        dg_drain_pass(&d, true, now);
        dg_drain_left(&d, 10);
        if (i == 2)
            assert_true(dg_drain_rate(&d) == 0); /* after 0.3 s: not known yet */
    }
    assert_in_range((int)dg_drain_rate(&d), 98, 106);
    dg_drain_pass(&d, false, now += S); /* idle: the speed stays */
    assert_in_range((int)dg_drain_rate(&d), 98, 106);
    dg_drain_left(&d, 1000);
    dg_drain_left(&d, -1000); /* given back */
    assert_in_range((int)dg_drain_rate(&d), 98, 106);
    for (int i = 0; i < 100; i++) { /* then 20 a second */
        dg_drain_pass(&d, true, now += 100 * MS);
        dg_drain_left(&d, 2);
    }
    assert_in_range((int)dg_drain_rate(&d), 19, 24);
    dg_drain_pass(&d, false, now + 60 * S);
    assert_true(dg_drain_rate(&d) == 0);
}

/* The engines claim four times the speed that the queue measures. */
static void the_bound_is_in_measured_seconds(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue();
    struct dg_queue_load load;
    struct dg_error err = {0};
    struct made *m[4], *more = make(&model, 1, 50);
    struct dg_entry *out[N];
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        m[i] = make(&model, N, 50);
        assert_int_equal(dg_queue_submit(q, &m[i]->task, NULL), 0); /* 1600 in all */
    }
    assert_int_equal(dg_queue_submit(q, &more->task, NULL), 0); /* 4000 may wait */
    dg_queue_cancel(q, &more->task, DG_TASK_GONE);
    more->task.outcome = DG_TASK_OK;
    more->task.n_left = 1;
    const uint64_t start = dg_clock_ns();
    for (uint64_t i = 1; i <= 10; i++) /* 500 a second: 1100 are left, 1000 may wait */
        assert_int_equal(pick(q, &model, start + i * 100 * MS, 1, out), 1);
    dg_queue_load(q, &load);
    assert_int_equal(load.tokens, 1100);
    assert_in_range((int)(1000 * load.seconds), 1800, 2400);
    assert_int_equal(dg_queue_submit(q, &more->task, &err), DG_EAGAIN);
    assert_non_null(strstr(err.message, "s of work are waiting"));
    for (size_t i = 0; i < 4; i++)
        drop(q, m[i]);
    drop(q, more);
    dg_queue_close(q);
}

static void what_waited_too_long_is_refused_at_its_turn(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue();
    struct made *overdue = make(&model, 2, 50), *begun = make(&model, 2, 50),
                *patient = make(&model, 1, 50), *bulk = make(&model, 1, 50);
    struct dg_entry *out[N];
    (void)state;
    patient->task.patient = true;
    bulk->task.class = DG_CLASS_BULK;
    assert_int_equal(dg_queue_submit(q, &begun->task, NULL), 0);
    const uint64_t start = dg_clock_ns();
    assert_int_equal(pick(q, &model, start, 1, out), 1);
    assert_ptr_equal(out[0], &begun->entries[0]);
    assert_int_equal(dg_queue_submit(q, &overdue->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &patient->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &bulk->task, NULL), 0);
    assert_int_equal(pick(q, &model, start + 3 * S, 8, out), 2); /* interactive ones first */
    assert_int_equal(pick(q, &model, start + 3 * S, 8, out + 2), 1);
    for (size_t i = 0; i < 3; i++)
        assert_ptr_not_equal(out[i]->task, &overdue->task);
    assert_int_equal(overdue->done, 1);
    assert_int_equal(overdue->task.outcome, DG_TASK_FAILED);
    assert_int_equal(overdue->task.error.code, DG_EAGAIN);
    assert_non_null(strstr(overdue->task.error.message, "limit of 2"));
    assert_int_equal(begun->done + patient->done + bulk->done, 0);
    drop(q, overdue), drop(q, begun), drop(q, patient), drop(q, bulk);
    dg_queue_close(q);
}

/* Requests that are refused together are told their own waits. */
static void a_refusal_says_how_long_the_request_waited(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue();
    struct made *first = make(&model, 1, 50), *second = make(&model, 1, 50);
    struct dg_entry *out[N];
    const uint64_t now = dg_clock_ns();
    (void)state;
    first->task.came_ns = now - 7 * S;
    second->task.came_ns = now - 3 * S;
    assert_int_equal(dg_queue_submit(q, &first->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &second->task, NULL), 0);
    assert_int_equal(pick(q, &model, now, 8, out), 0);
    assert_non_null(strstr(first->task.error.message, "waited for 7.0 s"));
    assert_non_null(strstr(second->task.error.message, "waited for 3.0 s"));
    drop(q, first), drop(q, second);
    dg_queue_close(q);
}

/* Opens the task of a request for one sentence, whose text the bundle's vocabulary turns into ids.
 */
static struct dg_task *ask(
    struct dg_served *model, enum dg_class class, atomic_int *done, struct dg_job **job)
{
    const struct dg_translate_options o = {.search.alpha = -1};
    const char *text = "Two dogs play.";
    struct dg_task *t;
    struct dg_error err = {0};
    if (dg_job_encode(model->translator, text, strlen(text), &o, job, &err) ||
        dg_task_open(model, job, 1, &t, &err))
        fail_msg("%s", err.message);
    t->class = (uint8_t) class;
    t->done = count_done;
    t->arg = done;
    return t;
}

/* An interactive request for the same sentence gives the waiting bulk one its rank, but a bulk
 * request waits for as long as it takes. */
static void an_equal_interactive_sentence_gets_no_bulk_one_refused(void **state)
{
    struct dg_backend *be;
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue();
    struct dg_error err = {0};
    struct dg_job *jobs[2];
    struct dg_entry *out[N];
    atomic_int done[2] = {0};
    (void)state;
    if (dg_cpu_open(NULL, &be, &err) ||
        dg_translator_open(BUNDLE, be, 200, &model.translator, &err))
        fail_msg("%s", err.message);
    struct dg_task *bulk = ask(&model, DG_CLASS_BULK, &done[0], &jobs[0]),
                   *same = ask(&model, DG_CLASS_INTERACTIVE, &done[1], &jobs[1]);
    assert_int_equal(dg_queue_submit(q, bulk, NULL), 0);
    assert_int_equal(dg_queue_submit(q, same, NULL), 0);
    assert_int_equal(pick(q, &model, dg_clock_ns() + 3 * S, 8, out), 1);
    assert_int_equal(done[0] + done[1], 0);
    assert_ptr_equal(out[0], &bulk->entries[0]);
    assert_ptr_equal(out[0]->next, &same->entries[0]);
    dg_task_settle(bulk);
    dg_task_settle(same);
    dg_task_free(bulk), dg_task_free(same);
    dg_job_free(jobs[0]), dg_job_free(jobs[1]);
    dg_translator_close(model.translator);
    dg_cpu_close(be);
    dg_queue_close(q);
}

/* Work that a worker gave back for lack of room has not begun. */
static void what_was_given_back_is_not_begun(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue();
    struct made *m = make(&model, 1, 50);
    struct dg_entry *out[N];
    (void)state;
    assert_int_equal(dg_queue_submit(q, &m->task, NULL), 0);
    const uint64_t start = dg_clock_ns();
    assert_int_equal(pick(q, &model, start + S, 1, out), 1); /* in time */
    dg_queue_return(q, out, 1);
    assert_int_equal(pick(q, &model, start + 3 * S, 1, out), 0);
    assert_int_equal(m->done, 1);
    drop(q, m);
    dg_queue_close(q);
}

/* Before any speed is measured, a small request still goes before the rest of a large one. */
static void a_first_large_request_blocks_nobody(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue();
    struct made *large = make(&model, N, 50), *small = make(&model, 1, 50);
    struct dg_entry *out[N];
    const struct timespec later = {.tv_nsec = 200 * MS};
    (void)state;
    assert_int_equal(dg_queue_submit(q, &large->task, NULL), 0);
    nanosleep(&later, NULL);
    assert_int_equal(dg_queue_submit(q, &small->task, NULL), 0);
    assert_int_equal(pick(q, &model, dg_clock_ns(), 3, out), 3);
    assert_ptr_equal(out[0], &large->entries[0]);
    assert_ptr_equal(out[1], &small->entries[0]);
    assert_ptr_equal(out[2], &large->entries[1]);
    dg_queue_return(q, out, 3);
    drop(q, small);
    drop(q, large);
    dg_queue_close(q);
}

/* No request's rank is later than the patience that the bound allows, also a new bound. */
static void a_new_bound_limits_patience(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue();
    struct made *before = make(&model, N, 50), *after = make(&model, N, 50);
    (void)state;
    assert_int_equal(dg_queue_submit(q, &before->task, NULL), 0);
    assert_true(before->entries[N - 1].node.key - before->task.submitted_ns > S);
    dg_queue_set_bound(q, 0, 1, 500 * MS);
    assert_int_equal(dg_queue_submit(q, &after->task, NULL), 0);
    assert_int_equal(after->entries[N - 1].node.key - after->task.submitted_ns, 500 * MS);
    drop(q, before), drop(q, after);
    dg_queue_close(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_speed_is_what_left_while_something_waited),
        cmocka_unit_test(the_bound_is_in_measured_seconds),
        cmocka_unit_test(what_waited_too_long_is_refused_at_its_turn),
        cmocka_unit_test(a_refusal_says_how_long_the_request_waited),
        cmocka_unit_test(an_equal_interactive_sentence_gets_no_bulk_one_refused),
        cmocka_unit_test(what_was_given_back_is_not_begun),
        cmocka_unit_test(a_first_large_request_blocks_nobody),
        cmocka_unit_test(a_new_bound_limits_patience),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
