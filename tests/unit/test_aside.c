/* The thread beside the workers: each work is called once and one at a time, a full line refuses,
 * stopping tells those that wait; under many submitting threads at once (run it under the thread
 * sanitizer: `make tsan`). */
#include "server/request/aside.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A door that a work waits at, and how many have come to it. */
struct door {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    int arrived, done, stopped;
};

static void door_init(struct door *d, bool open)
{
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    d->open = open;
    d->arrived = d->done = d->stopped = 0;
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

static void door_wait_arrived(struct door *d, int n)
{
    pthread_mutex_lock(&d->lock);
    while (d->arrived < n)
        pthread_cond_wait(&d->changed, &d->lock);
    pthread_mutex_unlock(&d->lock);
}

static void work(void *arg, bool stopped)
{
    struct door *d = arg;
    pthread_mutex_lock(&d->lock);
    assert_int_equal(d->arrived, d->done); /* one at a time */
    d->arrived++;
    pthread_cond_broadcast(&d->changed);
    while (!d->open && !stopped)
        pthread_cond_wait(&d->changed, &d->lock);
    d->done++;
    d->stopped += stopped;
    pthread_mutex_unlock(&d->lock);
}

static void test_full_line(void **state)
{
    (void)state;
    struct dg_aside *a = NULL;
    struct dg_error err = {0};
    struct door d;
    door_init(&d, false);
    assert_int_equal(dg_aside_open(2, &a, &err), 0);
    assert_int_equal(dg_aside_submit(a, work, &d, &err), 0);
    door_wait_arrived(&d, 1); /* out of the line */
    assert_int_equal(dg_aside_submit(a, work, &d, &err), 0);
    assert_int_equal(dg_aside_submit(a, work, &d, &err), 0);
    assert_int_equal(dg_aside_submit(a, work, &d, &err), DG_EAGAIN);
    assert_string_equal(err.message, "2 requests of this kind are waiting already");
    door_open(&d);
    dg_aside_close(a);
    assert_int_equal(d.done, 3);
    door_deinit(&d);
}

static void *stop_it(void *arg)
{
    dg_aside_stop(arg);
    return NULL;
}

/* The one that runs ends by itself, those behind it are told; what comes later is refused. */
static void test_stopped(void **state)
{
    (void)state;
    struct dg_error err = {0};
    struct dg_aside *a = NULL;
    pthread_t stopper;
    struct door d, late;
    int rc;
    door_init(&d, false);
    door_init(&late, true);
    assert_int_equal(dg_aside_open(64, &a, &err), 0);
    assert_int_equal(dg_aside_submit(a, work, &d, &err), 0);
    door_wait_arrived(&d, 1);
    assert_int_equal(dg_aside_submit(a, work, &d, &err), 0);
    assert_int_equal(dg_aside_submit(a, work, &d, &err), 0);
    assert_int_equal(pthread_create(&stopper, NULL, stop_it, a), 0);
    /* Until it says so it is not stopped yet: then these come behind, and are called too. */
    int taken = 0;
    while (!(rc = dg_aside_submit(a, work, &late, &err)) || rc == DG_EAGAIN)
        taken += !rc;
    assert_int_equal(rc, DG_ECANCELED);
    door_open(&d);
    pthread_join(stopper, NULL);
    assert_int_equal(d.done, 3);
    assert_int_equal(d.stopped, 2);
    assert_int_equal(late.done, taken);
    assert_int_equal(late.stopped, taken);
    assert_int_equal(dg_aside_submit(a, work, &late, &err), DG_ECANCELED); /* until it is closed */
    dg_aside_close(a);
    door_deinit(&d);
    door_deinit(&late);
}

enum { THREADS = 8, EACH = 500 };

struct client {
    struct dg_aside *a;
    struct door *d;
    pthread_t thread;
    int taken, refused;
};

static void *submit_many(void *arg)
{
    struct client *c = arg;
    struct dg_error err = {0};
    for (int i = 0; i < EACH; i++) {
        int rc = dg_aside_submit(c->a, work, c->d, &err);
        c->taken += rc == 0;
        c->refused += rc == DG_EAGAIN;
    }
    return NULL;
}

static void test_many_threads(void **state)
{
    (void)state;
    struct client clients[THREADS];
    struct dg_aside *a = NULL;
    struct dg_error err = {0};
    struct door d;
    int taken = 0, refused = 0;
    door_init(&d, true);
    assert_int_equal(dg_aside_open(5, &a, &err), 0);
    for (int i = 0; i < THREADS; i++) {
        clients[i] = (struct client){.a = a, .d = &d};
        assert_int_equal(pthread_create(&clients[i].thread, NULL, submit_many, &clients[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(clients[i].thread, NULL);
        taken += clients[i].taken;
        refused += clients[i].refused;
    }
    dg_aside_close(a);
    assert_int_equal(taken + refused, THREADS * EACH);
    assert_int_equal(d.done, taken);
    assert_true(taken > 0);
    door_deinit(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full_line),
        cmocka_unit_test(test_stopped), cmocka_unit_test(test_many_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
