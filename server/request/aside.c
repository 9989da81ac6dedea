#include "server/request/aside.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LOW_PRIORITY 10

struct item {
    void (*work)(void *arg, bool stopped);
    void *arg;
};

struct dg_aside {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* guarded by lock */
    struct item *line; /* [max] ring */
    uint32_t max, first, n;
    bool stopped;
};

static void *run(void *arg)
{
    struct dg_aside *a = arg;
    /* Of this thread alone, on Linux; where it is not allowed, one core's share is all it takes. */
    setpriority(PRIO_PROCESS, (id_t)gettid(), LOW_PRIORITY);
    pthread_mutex_lock(&a->lock);
    for (;;) {
        while (a->n == 0 && !a->stopped)
            pthread_cond_wait(&a->changed, &a->lock);
        if (a->n == 0)
            break;
        struct item item = a->line[a->first];
        bool stopped = a->stopped;
        a->first = (a->first + 1) % a->max;
        a->n--;
        pthread_mutex_unlock(&a->lock);
        item.work(item.arg, stopped);
        pthread_mutex_lock(&a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

int dg_aside_open(uint32_t max_waiting, struct dg_aside **out, struct dg_error *err)
{
    struct dg_aside *a = calloc(1, sizeof *a);
    if (!a || !(a->line = calloc(max_waiting, sizeof *a->line))) {
        free(a);
        return dg_error_set(err, DG_ENOMEM, "no memory for a thread");
    }
    a->max = max_waiting;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    int number = pthread_create(&a->thread, NULL, run, a);
    if (number == 0) {
        *out = a;
        return DG_OK;
    }
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a->line);
    free(a);
    return dg_error_set(err, DG_EIO, "cannot start a thread: %s", strerror(number));
}

void dg_aside_stop(struct dg_aside *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    bool first = !a->stopped;
    a->stopped = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    if (first)
        pthread_join(a->thread, NULL);
}

void dg_aside_close(struct dg_aside *a)
{
    if (!a)
        return;
    dg_aside_stop(a);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a->line);
    free(a);
}

int dg_aside_submit(
    struct dg_aside *a, void (*work)(void *arg, bool stopped), void *arg, struct dg_error *err)
{
    int rc = DG_OK;
    pthread_mutex_lock(&a->lock);
    if (a->stopped)
        rc = dg_error_set(err, DG_ECANCELED, "the server is stopping");
    else if (a->n == a->max)
        rc = dg_error_set(err, DG_EAGAIN, "%u requests of this kind are waiting already", a->max);
    if (rc == DG_OK) {
        a->line[(a->first + a->n++) % a->max] = (struct item){work, arg};
        pthread_cond_signal(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    return rc;
}
