/* What the queue's bound counts against whom. Tasks are made by hand, as in test_queue. */
#include "server/schedule/queue.h"

#include "server/schedule/usage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define A 7
#define B 8

struct made {
    struct dg_task task;
    struct dg_entry entry;
};

static struct dg_served model;
static struct dg_queue *q;

static int begin(void **state)
{
    const struct dg_queue_options o = {.max_tokens = 100, .policy = dg_batch_policy_default};
    struct dg_error err = {0};
    (void)state;
    atomic_store(&model.refs, 1);
    return dg_queue_open(&o, &q, &err);
}

static int end(void **state)
{
    (void)state;
    dg_queue_close(q);
    return 0;
}

static void done(void *arg)
{
    (void)arg;
}

/* Submits a task of one sentence. */
static int submit(struct made *m, uint64_t client, enum dg_class class, uint32_t tokens)
{
    struct dg_error err = {0};
    memset(m, 0, sizeof *m);
    m->task.model = &model;
    m->task.entries = &m->entry;
    m->task.n_entries = m->task.n_left = 1;
    m->task.client = client;
    m->task.class = (uint8_t) class;
    m->task.done = done;
    pthread_mutex_init(&m->task.lock, NULL);
    m->entry = (struct dg_entry){.task = &m->task, .source_tokens = tokens, .rows = 4};
    return dg_queue_submit(q, &m->task, &err);
}

static void cancel(struct made *m)
{
    dg_queue_cancel(q, &m->task, DG_TASK_GONE);
    pthread_mutex_destroy(&m->task.lock);
}

static void bulk_work_takes_no_share_of_interactive_work(void **state)
{
    struct made bulk, other, own, more;
    struct dg_error err = {0};
    (void)state;
    assert_int_equal(submit(&bulk, A, DG_CLASS_BULK, 90), DG_OK);
    assert_int_equal(submit(&other, B, DG_CLASS_INTERACTIVE, 10), DG_OK);
    assert_int_equal(dg_queue_check(q, A, 40, &err), DG_OK);
    assert_int_equal(submit(&own, A, DG_CLASS_INTERACTIVE, 40), DG_OK);
    assert_int_equal(submit(&more, A, DG_CLASS_INTERACTIVE, 20), DG_EAGAIN); /* 60 of 50 free */
    cancel(&more);
    assert_int_equal(submit(&more, A, DG_CLASS_INTERACTIVE, 10), DG_OK);
    cancel(&bulk), cancel(&other), cancel(&own), cancel(&more);
}

static void interactive_work_takes_a_share_of_bulk_work(void **state)
{
    struct made own, other, bulk;
    (void)state;
    assert_int_equal(submit(&own, A, DG_CLASS_INTERACTIVE, 30), DG_OK);
    assert_int_equal(submit(&other, B, DG_CLASS_INTERACTIVE, 10), DG_OK);
    assert_int_equal(submit(&bulk, A, DG_CLASS_BULK, 40), DG_EAGAIN); /* 70 of 60 free */
    cancel(&bulk);
    assert_int_equal(submit(&bulk, A, DG_CLASS_BULK, 30), DG_OK);
    cancel(&own), cancel(&other), cancel(&bulk);
}

/* Neither keeps the other out: batches and documents refill the queue, and would never let a
 * larger item in. */
static void a_larger_request_waits_beside_the_others(void **state)
{
    struct made some, large, another, more;
    struct dg_queue_load load;
    (void)state;
    assert_int_equal(submit(&some, DG_NO_CLIENT, DG_CLASS_BULK, 60), DG_OK);
    assert_int_equal(submit(&large, DG_NO_CLIENT, DG_CLASS_BULK, 500), DG_OK);
    assert_int_equal(submit(&another, DG_NO_CLIENT, DG_CLASS_INTERACTIVE, 500), DG_EAGAIN);
    cancel(&another);
    assert_int_equal(submit(&more, DG_NO_CLIENT, DG_CLASS_BULK, 50), DG_EAGAIN);
    cancel(&more);
    assert_int_equal(submit(&more, DG_NO_CLIENT, DG_CLASS_BULK, 40), DG_OK);
    cancel(&large);
    assert_int_equal(submit(&another, DG_NO_CLIENT, DG_CLASS_INTERACTIVE, 500), DG_OK);
    dg_queue_load(q, &load);
    assert_int_equal(load.tokens, 600);
    assert_int_equal(load.interactive, 0);
    assert_true(load.seconds > 0 && load.interactive_seconds <= 0);
    cancel(&some), cancel(&another);
    assert_int_equal(submit(&some, DG_NO_CLIENT, DG_CLASS_INTERACTIVE, 20), DG_OK);
    dg_queue_load(q, &load); /* 20 of 60 tokens */
    assert_true(load.interactive_seconds > 0);
    assert_float_equal(load.interactive_seconds, load.seconds / 3, 1e-9);
    cancel(&some), cancel(&more);
}

/* Not even its own client's. */
static void a_larger_request_takes_no_share(void **state)
{
    struct made other, large, own, more;
    (void)state;
    assert_int_equal(submit(&other, B, DG_CLASS_BULK, 40), DG_OK);
    assert_int_equal(submit(&large, A, DG_CLASS_BULK, 500), DG_OK);
    assert_int_equal(submit(&own, A, DG_CLASS_BULK, 20), DG_OK);
    assert_int_equal(submit(&more, A, DG_CLASS_BULK, 10), DG_OK);
    cancel(&more);
    assert_int_equal(submit(&more, A, DG_CLASS_BULK, 30), DG_EAGAIN); /* 50 of 40 free */
    cancel(&more), cancel(&large);
    assert_int_equal(submit(&more, A, DG_CLASS_BULK, 30), DG_EAGAIN);
    cancel(&more), cancel(&own), cancel(&other);
}

/* Smaller work refills the queue, and would keep it out for as long as there is any. */
static void a_request_that_has_waited_is_let_in(void **state)
{
    struct made some, own, another, more;
    struct dg_error err = {0};
    (void)state;
    assert_int_equal(submit(&some, DG_NO_CLIENT, DG_CLASS_BULK, 60), DG_OK);
    assert_int_equal(submit(&own, DG_NO_CLIENT, DG_CLASS_BULK, 50), DG_EAGAIN);
    assert_int_equal(dg_queue_submit(q, &own.task, &err), DG_EAGAIN); /* just now */
    own.task.refused_ns -= UINT64_C(1000000000);
    assert_int_equal(dg_queue_submit(q, &own.task, &err), DG_OK);
    assert_int_equal(submit(&another, DG_NO_CLIENT, DG_CLASS_BULK, 50), DG_EAGAIN);
    another.task.refused_ns -= UINT64_C(1000000000);
    assert_int_equal(dg_queue_submit(q, &another.task, &err), DG_EAGAIN); /* one at a time */
    assert_int_equal(submit(&more, DG_NO_CLIENT, DG_CLASS_BULK, 40), DG_OK);
    cancel(&own);
    assert_int_equal(dg_queue_submit(q, &another.task, &err), DG_OK);
    cancel(&some), cancel(&another), cancel(&more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bulk_work_takes_no_share_of_interactive_work, begin, end),
        cmocka_unit_test_setup_teardown(interactive_work_takes_a_share_of_bulk_work, begin, end),
        cmocka_unit_test_setup_teardown(a_larger_request_waits_beside_the_others, begin, end),
        cmocka_unit_test_setup_teardown(a_larger_request_takes_no_share, begin, end),
        cmocka_unit_test_setup_teardown(a_request_that_has_waited_is_let_in, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
