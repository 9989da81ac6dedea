/* Tasks that are made by hand: the queue reads their entries, not texts. */
#ifndef DG_TESTS_UNIT_MADE_TASK_H
#define DG_TESTS_UNIT_MADE_TASK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "server/schedule/queue.h"

#include <stdlib.h>

#define N 8 /* most sentences of a task */

struct made {
    struct dg_task task;
    struct dg_entry entries[N];
    atomic_int done;
};

static inline void count_done(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

/* Makes a task of n sentences with `tokens` each. */
static inline struct made *make(struct dg_served *model, size_t n, uint32_t tokens)
{
    struct made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->task.model = model;
    m->task.entries = m->entries;
    m->task.n_entries = m->task.n_left = n;
    m->task.done = count_done;
    m->task.arg = &m->done;
    pthread_mutex_init(&m->task.lock, NULL);
    for (size_t i = 0; i < n; i++)
        m->entries[i] = (struct dg_entry){
            .task = &m->task, .index = (uint32_t)i, .source_tokens = tokens, .rows = 4};
    return m;
}

static inline void unmake(struct made *m)
{
    pthread_mutex_destroy(&m->task.lock);
    free(m);
}

#endif
