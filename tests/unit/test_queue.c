/* The queue: all or none, bounds, lanes, twins, classes, cancelling, deadlines, giving back,
 * stopping; then many threads at once. */
#include "server/schedule/queue_internal.h"
#include "server/schedule/usage.h"

#include "base/clock.h"
#include "tests/unit/made_task.h"

#include <sched.h>
#include <string.h>

static struct dg_queue *open_queue(size_t max_tokens)
{
    struct dg_queue_options o = {.max_tokens = max_tokens, .policy = dg_batch_policy_default};
    struct dg_queue *q;
    struct dg_error err = {0};
    assert_int_equal(dg_queue_open(&o, &q, &err), 0);
    return q;
}

static void expect_load(struct dg_queue *q, size_t entries, size_t tokens)
{
    struct dg_queue_load load;
    dg_queue_load(q, &load);
    assert_int_equal(load.entries, entries);
    assert_int_equal(load.tokens, tokens);
}

static size_t pick(
    struct dg_queue *q, struct dg_served *model, uint32_t sentences, struct dg_entry **out)
{
    struct dg_turn turn = {.now_ns = dg_clock_ns(),
        .room = {.rows = 1000, .sentences = sentences, .knee = 1000, .step = 1}};
    return dg_queue_pick(q, model, &turn, out, N);
}

static void bounded_all_or_none(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue(100);
    struct dg_error err = {0};
    struct made *a = make(&model, 3, 20), *b = make(&model, 3, 20), *c = make(&model, 2, 20),
                *huge = make(&model, 2, 500);
    struct dg_entry *out[N];
    (void)state;
    assert_int_equal(dg_queue_submit(q, &a->task, &err), 0);
    assert_int_equal(dg_queue_submit(q, &b->task, &err), DG_EAGAIN); /* 60 + 60 */
    assert_non_null(strstr(err.message, "100"));
    expect_load(q, 3, 60);
    assert_int_equal(dg_queue_submit(q, &c->task, NULL), 0); /* 60 + 40: exactly full */
    expect_load(q, 5, 100);
    assert_int_equal(pick(q, &model, 4, out), 4);
    assert_ptr_equal(out[0], &a->entries[0]); /* they alternate */
    assert_ptr_equal(out[1], &c->entries[0]);
    assert_ptr_equal(out[2], &a->entries[1]);
    assert_ptr_equal(out[3], &c->entries[1]);
    assert_int_equal(pick(q, &model, 4, out), 1);
    expect_load(q, 0, 0);
    assert_int_equal(
        dg_queue_submit(q, &huge->task, NULL), 0); /* larger than the bound, but nothing waits */
    assert_int_equal(pick(q, &model, 4, out), 2);
    assert_int_equal(a->done + b->done + c->done + huge->done, 0);
    unmake(a), unmake(b), unmake(c), unmake(huge);
    dg_queue_close(q);
}

/* A request that alone exceeds the bound keeps no interactive one out; only one such waits at a
 * time. */
static void larger_than_the_bound(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue(100);
    struct made *huge = make(&model, 2, 500), *another = make(&model, 2, 500),
                *small = make(&model, 3, 30), *more = make(&model, 1, 20);
    struct dg_entry *out[N];
    struct dg_queue_load load;
    (void)state;
    assert_int_equal(dg_queue_submit(q, &huge->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &another->task, NULL), DG_EAGAIN);
    assert_int_equal(dg_queue_submit(q, &small->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &more->task, NULL), DG_EAGAIN); /* 90 + 20 */
    dg_queue_load(q, &load);
    assert_int_equal(load.entries, 5);
    assert_int_equal(load.interactive, 3);
    assert_int_equal(pick(q, &model, 5, out), 5);
    assert_ptr_equal(out[0], &small->entries[0]); /* interactive ones first */
    assert_int_equal(dg_queue_submit(q, &more->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &another->task, NULL), 0); /* beside interactive ones */
    dg_queue_cancel(q, &more->task, DG_TASK_GONE);
    dg_queue_cancel(q, &another->task, DG_TASK_GONE);
    expect_load(q, 0, 0);
    unmake(huge), unmake(another), unmake(small), unmake(more);
    dg_queue_close(q);
}

/* Beam 32 costs eight times as much as beam 4. */
static void a_wide_search_counts_for_more(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue(100);
    struct made *wide = make(&model, 1, 10), *narrow = make(&model, 1, 21);
    (void)state;
    wide->entries[0].rows = 32;
    assert_int_equal(dg_queue_submit(q, &wide->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &narrow->task, NULL), DG_EAGAIN); /* 80 + 21 */
    narrow->entries[0].source_tokens = 20;
    assert_int_equal(dg_queue_submit(q, &narrow->task, NULL), 0);
    dg_queue_cancel(q, &wide->task, DG_TASK_GONE);
    dg_queue_cancel(q, &narrow->task, DG_TASK_GONE);
    unmake(wide), unmake(narrow);
    dg_queue_close(q);
}

/* Beside others a client may use only the free part of the queue, and goes after those who used
 * less. Alone it may use all. */
static void clients_share(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue(100);
    struct made *m[6];
    struct dg_entry *out[N];
    struct dg_error err = {0};
    (void)state;
    for (int i = 0; i < 6; i++) {
        m[i] = make(&model, 1, 20);
        m[i]->task.client = 7;
    }
    assert_int_equal(dg_queue_submit(q, &m[0]->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &m[1]->task, NULL), 0);
    m[2]->task.client = 8;
    assert_int_equal(dg_queue_submit(q, &m[2]->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &m[3]->task, &err), DG_EAGAIN); /* 40 + 20 of 40 free */
    assert_non_null(strstr(err.message, "client"));
    m[4]->task.client = 9;
    m[4]->entries[0].source_tokens = 40;
    assert_int_equal(dg_queue_submit(q, &m[4]->task, NULL), 0);
    m[5]->task.client = DG_NO_CLIENT;
    assert_int_equal(pick(q, &model, 4, out), 4);
    assert_ptr_equal(out[0], &m[0]->entries[0]);
    assert_ptr_equal(out[1], &m[2]->entries[0]); /* it came after m[1] */
    assert_ptr_equal(out[2], &m[1]->entries[0]);
    assert_ptr_equal(out[3], &m[4]->entries[0]); /* longer */
    assert_int_equal(dg_queue_submit(q, &m[5]->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &m[3]->task, NULL), 0);
    assert_int_equal(pick(q, &model, 2, out), 2);
    assert_ptr_equal(out[0], &m[5]->entries[0]);
    for (int i = 0; i < 6; i++)
        unmake(m[i]);
    dg_queue_close(q);
}

static void lanes_by_model(void **state)
{
    struct dg_served first = {.refs = 1}, second = {.refs = 1}, *models[4];
    struct dg_queue *q = open_queue(1000);
    struct made *a = make(&first, 2, 1), *b = make(&second, 3, 1);
    struct dg_entry *out[N];
    (void)state;
    assert_int_equal(dg_queue_models(q, models, 4), 0);
    assert_int_equal(dg_queue_submit(q, &a->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &b->task, NULL), 0);
    assert_int_equal(dg_queue_models(q, models, 4), 2);
    assert_int_equal(first.refs, 2); /* held for the caller */
    assert_int_equal(second.refs, 2);
    assert_int_equal(pick(q, &second, N, out), 3);
    assert_int_equal(dg_queue_models(q, models, 4), 1);
    assert_ptr_equal(models[0], &first);
    assert_int_equal(pick(q, &second, N, out), 0);
    assert_int_equal(pick(q, &first, N, out), 2);
    unmake(a), unmake(b);
    dg_queue_close(q);
}

static void cancelling(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue(1000);
    struct made *a = make(&model, 4, 10), *b = make(&model, 2, 10);
    struct dg_entry *out[N];
    (void)state;
    assert_int_equal(dg_queue_submit(q, &a->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &b->task, NULL), 0);
    assert_int_equal(pick(q, &model, 1, out), 1); /* a worker has one of a's now */
    dg_queue_cancel(q, &a->task, DG_TASK_GONE);
    expect_load(q, 2, 20);
    assert_true(dg_task_over(&a->task));
    assert_int_equal(a->done, 0); /* the worker still has one */
    dg_task_settle(&a->task);
    assert_int_equal(a->done, 1);
    assert_int_equal(a->task.outcome, DG_TASK_GONE);
    dg_queue_cancel(q, &b->task, DG_TASK_GONE); /* none live: done at once */
    assert_int_equal(b->done, 1);
    expect_load(q, 0, 0);
    unmake(a), unmake(b);
    dg_queue_close(q);
}

/* A request past its deadline leaves like one whose client has gone, with its own outcome. */
static void late_ones_leave(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue(1000);
    struct made *late = make(&model, 2, 10), *early = make(&model, 1, 10);
    struct dg_entry *out[N];
    (void)state;
    assert_int_equal(dg_queue_submit(q, &late->task, NULL), 0);
    assert_int_equal(dg_queue_submit(q, &early->task, NULL), 0);
    dg_queue_cancel(q, &late->task, DG_TASK_LATE);
    dg_queue_cancel(q, &late->task, DG_TASK_GONE); /* the first outcome stays */
    assert_int_equal(late->done, 1);
    assert_int_equal(late->task.outcome, DG_TASK_LATE);
    assert_int_equal(pick(q, &model, N, out), 1);
    assert_ptr_equal(out[0], &early->entries[0]);
    expect_load(q, 0, 0);
    unmake(late), unmake(early);
    dg_queue_close(q);
}

static void given_back_keeps_its_place(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue(1000);
    struct made *a = make(&model, 4, 10), *b = make(&model, 2, 10);
    struct dg_entry *out[N];
    (void)state;
    assert_int_equal(dg_queue_submit(q, &a->task, NULL), 0);
    assert_int_equal(pick(q, &model, N, out), 4);
    assert_int_equal(dg_queue_submit(q, &b->task, NULL), 0);
    dg_queue_return(q, out + 1, 3);
    expect_load(q, 5, 50);
    assert_int_equal(pick(q, &model, N, out), 5);
    const struct dg_entry *expected[] = {
        &b->entries[0], &a->entries[1], &b->entries[1], &a->entries[2], &a->entries[3]};
    for (int i = 0; i < 5; i++)
        assert_ptr_equal(out[i], expected[i]);
    /* An entry given back after its task was cancelled is dropped at the next pick. */
    struct dg_entry *bs[] = {out[0], out[2]};
    dg_queue_cancel(q, &b->task, DG_TASK_GONE);
    dg_queue_return(q, bs, 2);
    assert_int_equal(pick(q, &model, N, out), 0);
    assert_int_equal(b->done, 1);
    unmake(a), unmake(b);
    dg_queue_close(q);
}

/* Other models took the places of all lanes meanwhile. */
static void one_that_cannot_go_back_fails(void **state)
{
    static struct dg_served models[DG_QUEUE_MAX_LANES + 1];
    struct dg_queue *q = open_queue(1000);
    struct made *a = make(&models[DG_QUEUE_MAX_LANES], 1, 1), *others[DG_QUEUE_MAX_LANES];
    struct dg_entry *out[N];
    (void)state;
    assert_int_equal(dg_queue_submit(q, &a->task, NULL), 0);
    assert_int_equal(pick(q, a->task.model, 1, out), 1);
    for (int i = 0; i < DG_QUEUE_MAX_LANES; i++) {
        others[i] = make(&models[i], 1, 1);
        assert_int_equal(dg_queue_submit(q, &others[i]->task, NULL), 0);
    }
    dg_queue_return(q, out, 1);
    assert_int_equal(a->done, 1);
    assert_int_equal(a->task.outcome, DG_TASK_FAILED); /* the server is not stopping */
    assert_int_equal(a->task.error.code, DG_ENOMEM);
    unmake(a);
    for (int i = 0; i < DG_QUEUE_MAX_LANES; i++) {
        dg_queue_cancel(q, &others[i]->task, DG_TASK_GONE);
        unmake(others[i]);
    }
    dg_queue_close(q);
}

static void stopping(void **state)
{
    struct dg_served model = {.refs = 1};
    struct dg_queue *q = open_queue(1000);
    struct made *a = make(&model, 4, 10), *b = make(&model, 1, 10);
    struct dg_entry *out[N];
    (void)state;
    assert_int_equal(dg_queue_submit(q, &a->task, NULL), 0);
    assert_true(dg_queue_wait(q));
    assert_int_equal(pick(q, &model, 1, out), 1);
    dg_queue_stop(q);
    assert_true(dg_queue_stopped(q));
    assert_false(dg_queue_wait(q));
    assert_int_equal(a->done, 0);
    dg_queue_return(q, out, 1); /* not taken back any more */
    assert_int_equal(a->done, 1);
    assert_int_equal(a->task.outcome, DG_TASK_STOPPED);
    assert_int_equal(dg_queue_submit(q, &b->task, NULL), DG_ECANCELED);
    unmake(a), unmake(b);
    dg_queue_close(q);
}

/* Two workers, four clients that submit and sometimes cancel: every task is done once, none is
 * lost. */

#define TASKS 500

struct race {
    struct dg_queue *q;
    struct dg_served *model;
    atomic_int refused;
    atomic_int done;
};

static void *race_worker(void *arg)
{
    struct race *r = arg;
    struct dg_entry *out[N];
    unsigned turn = 0;
    while (dg_queue_wait(r->q)) {
        size_t n = pick(r->q, r->model, 3, out);
        for (size_t i = 0; i < n; i++) {
            if (++turn % 7 == 0)
                dg_queue_return(r->q, &out[i], 1);
            else
                dg_task_settle(out[i]->task);
        }
    }
    return NULL;
}

static void *race_client(void *arg)
{
    struct race *r = arg;
    struct made *made[TASKS];
    for (int i = 0; i < TASKS; i++) {
        made[i] = make(r->model, (size_t)(i % N + 1), 5);
        if (dg_queue_submit(r->q, &made[i]->task, NULL) != DG_OK) {
            atomic_fetch_add(&r->refused, 1);
            atomic_fetch_add(&made[i]->done, 1);
        } else if (i % 5 == 0 || i % 11 == 0) {
            dg_queue_cancel(r->q, &made[i]->task, i % 5 == 0 ? DG_TASK_GONE : DG_TASK_LATE);
        }
    }
    for (int i = 0; i < TASKS; i++) {
        while (atomic_load(&made[i]->done) == 0)
            sched_yield();
        atomic_fetch_add(&r->done, atomic_load(&made[i]->done));
        pthread_mutex_lock(
            &made[i]->task.lock); /* waits until the thread that called done has released it */
        pthread_mutex_unlock(&made[i]->task.lock);
        unmake(made[i]);
    }
    return NULL;
}

static void many_threads(void **state)
{
    struct dg_served model = {.refs = 1};
    struct race r = {.q = open_queue(300), .model = &model};
    pthread_t workers[2], clients[4];
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&workers[i], NULL, race_worker, &r), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&clients[i], NULL, race_client, &r), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(clients[i], NULL);
    expect_load(r.q, 0, 0);
    assert_int_equal(r.done, 4 * TASKS);
    dg_queue_stop(r.q);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    dg_queue_close(r.q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounded_all_or_none),
        cmocka_unit_test(larger_than_the_bound),
        cmocka_unit_test(a_wide_search_counts_for_more),
        cmocka_unit_test(clients_share),
        cmocka_unit_test(lanes_by_model),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(late_ones_leave),
        cmocka_unit_test(given_back_keeps_its_place),
        cmocka_unit_test(one_that_cannot_go_back_fails),
        cmocka_unit_test(stopping),
        cmocka_unit_test(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
