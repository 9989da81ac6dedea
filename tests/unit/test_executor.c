/* The executor: each work runs once and on one thread at a time, and once more if posted while it
 * runs; times are kept, a full queue refuses, cancelled work does not run; also with many threads
 * posting at once (run it under the thread sanitizer: `make tsan`). */
#include "base/executor.h"

#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static struct dg_executor *open_with(uint32_t threads, uint32_t max_ready)
{
    struct dg_executor *e = NULL;
    const struct dg_executor_options o = {
        .name = "test", .threads = threads, .max_ready = max_ready};
    assert_int_equal(dg_executor_open(&o, &e, NULL), 0);
    return e;
}

/* A work that waits at a door, with counts of its calls. */
struct door {
    struct dg_work work;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    int arrived, done;
    uint64_t at_ns; /* time of its last call */
};

static void pass(void *arg)
{
    struct door *d = arg;
    pthread_mutex_lock(&d->lock);
    assert_int_equal(d->arrived, d->done); /* one at a time */
    d->arrived++;
    d->at_ns = dg_clock_ns();
    pthread_cond_broadcast(&d->changed);
    while (!d->open)
        pthread_cond_wait(&d->changed, &d->lock);
    d->done++;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

static void door_init(struct door *d, bool open)
{
    *d = (struct door){.work = {.run = pass, .arg = d}, .open = open};
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
}

static void door_deinit(struct door *d)
{
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
}

static void door_open(struct door *d)
{
    pthread_mutex_lock(&d->lock);
    d->open = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

static void door_wait(struct door *d, int arrived, int done)
{
    pthread_mutex_lock(&d->lock);
    while (d->arrived < arrived || d->done < done)
        pthread_cond_wait(&d->changed, &d->lock);
    pthread_mutex_unlock(&d->lock);
}

/* Posted often while it waits: runs once. Posted while it runs, with two threads: once more. */
static void once_and_once_more(void **state)
{
    (void)state;
    struct dg_executor *e = open_with(2, 0);
    struct door d;
    door_init(&d, false);
    assert_true(dg_executor_post(e, &d.work));
    door_wait(&d, 1, 0);
    for (int i = 0; i < 5; i++)
        assert_true(dg_executor_post(e, &d.work));
    dg_executor_post_at(e, &d.work, dg_clock_ns() + 3600000 * MS); /* the earlier time stays */
    door_open(&d);
    door_wait(&d, 2, 2);
    dg_executor_close(e);
    assert_int_equal(d.done, 2);
    door_deinit(&d);
}

static void full_line(void **state)
{
    (void)state;
    struct dg_executor *e = open_with(1, 2);
    struct door d, more[3];
    door_init(&d, false);
    assert_true(dg_executor_post(e, &d.work));
    door_wait(&d, 1, 0); /* it has left the queue */
    for (int i = 0; i < 3; i++) {
        door_init(&more[i], true);
        assert_int_equal(dg_executor_post(e, &more[i].work), i < 2);
    }
    assert_true(dg_executor_post(e, &more[0].work)); /* already waiting */
    assert_true(dg_executor_cancel(e, &more[0].work));
    assert_false(dg_executor_cancel(e, &more[0].work));
    assert_false(dg_executor_cancel(e, &d.work)); /* running */
    assert_true(dg_executor_post(e, &more[2].work));
    door_open(&d);
    door_wait(&more[2], 1, 1);
    dg_executor_close(e);
    assert_int_equal(more[0].done, 0);
    assert_int_equal(more[1].done, 1);
    for (int i = 0; i < 3; i++)
        door_deinit(&more[i]);
    door_deinit(&d);
}

static void times(void **state)
{
    (void)state;
    struct dg_executor *e = open_with(1, 0);
    struct door d[3];
    uint64_t now = dg_clock_ns();
    for (int i = 0; i < 3; i++)
        door_init(&d[i], true);
    dg_executor_post_at(e, &d[0].work, now + 3600000 * MS);
    dg_executor_post_at(e, &d[1].work, now + 60 * MS);
    dg_executor_post_at(e, &d[2].work, now + 30 * MS);
    /* later than its present time: no change */
    dg_executor_post_at(e, &d[2].work, now + 3600000 * MS);
    door_wait(&d[2], 1, 1);
    assert_true(dg_clock_ns() >= now + 30 * MS);
    door_wait(&d[1], 1, 1);
    assert_true(dg_clock_ns() >= now + 60 * MS);
    assert_true(d[2].at_ns <= d[1].at_ns);
    assert_true(dg_executor_cancel(e, &d[0].work));
    dg_executor_post_at(e, &d[0].work, 1); /* long ago */
    door_wait(&d[0], 1, 1);
    dg_executor_post_at(e, &d[0].work, now + 3600000 * MS);
    dg_executor_close(e); /* does not wait for it */
    assert_int_equal(d[0].done, 1);
    for (int i = 0; i < 3; i++)
        door_deinit(&d[i]);
}

/* A work that frees itself, or posts itself again. */
struct self {
    struct dg_work work;
    struct dg_executor *executor;
    atomic_int *freed;
    int left;
};

static void run_self(void *arg)
{
    struct self *s = arg;
    if (s->left-- > 0) {
        if (s->left % 2)
            dg_executor_post(s->executor, &s->work);
        else
            dg_executor_post_at(s->executor, &s->work, dg_clock_ns() + MS / 100);
        return;
    }
    atomic_fetch_add(s->freed, 1);
    free(s);
}

enum { THREADS = 6, EACH = 200, AGAIN = 5 };

struct client {
    struct dg_executor *e;
    struct door *shared;
    atomic_int *freed;
    pthread_t thread;
};

static void *post_many(void *arg)
{
    struct client *c = arg;
    for (int i = 0; i < EACH; i++) {
        struct self *s = calloc(1, sizeof *s);
        *s = (struct self){.work = {.run = run_self, .arg = s},
            .executor = c->e,
            .freed = c->freed,
            .left = AGAIN};
        dg_executor_post(c->e, &s->work);
        dg_executor_post(c->e, &c->shared->work);
        if (i % 3 == 0)
            dg_executor_cancel(c->e, &c->shared->work);
    }
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    struct dg_executor *e = open_with(3, 0);
    struct client clients[THREADS];
    atomic_int freed = 0;
    struct door d;
    door_init(&d, true);
    for (int i = 0; i < THREADS; i++) {
        clients[i] = (struct client){.e = e, .shared = &d, .freed = &freed};
        assert_int_equal(pthread_create(&clients[i].thread, NULL, post_many, &clients[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(clients[i].thread, NULL);
    for (uint64_t end = dg_clock_ns() + 60000 * MS;
         atomic_load(&freed) < THREADS * EACH && dg_clock_ns() < end;)
        ;
    assert_int_equal(atomic_load(&freed), THREADS * EACH);
    dg_executor_close(e);
    assert_int_equal(d.arrived, d.done);
    door_deinit(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(once_and_once_more),
        cmocka_unit_test(full_line), cmocka_unit_test(times), cmocka_unit_test(many_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
