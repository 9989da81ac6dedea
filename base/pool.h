/* A small thread pool for splitting one op over cores: run(n tasks) and wait. One caller at a time.
 * Which thread runs which task is not fixed, so tasks must not depend on it. Waiting threads spin
 * briefly, then sleep: a busy machine is not made busier. If another process uses a core, a task
 * that lost its core keeps the caller waiting for milliseconds. If that happens often, the caller
 * works alone for a while and then tries again. */
#ifndef DG_BASE_POOL_H
#define DG_BASE_POOL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct dg_pool;

/* threads >= 1 counts the caller; 1 makes no thread at all. nice: of the threads made; 0: that of
 * the thread that opens the pool. The caller sets its own. */
int dg_pool_open(int threads, int nice, struct dg_pool **out, struct dg_error *err);
void dg_pool_close(struct dg_pool *pool);        /* NULL is fine */
int dg_pool_threads(const struct dg_pool *pool); /* NULL: 1 */

/* From now on let only the caller and n - 1 workers run tasks, 1 <= n <= threads; the others sleep.
 * Call it on the caller's thread. */
void dg_pool_limit(struct dg_pool *pool, int n); /* NULL is fine */
/* From now on never let the caller work alone: for tasks of many milliseconds and of unequal
 * lengths, where waiting does not mean that a task lost its core. Call it before the first run. */
void dg_pool_keep_shared(struct dg_pool *pool);
/* Whether the caller works alone at present because others hold the cores. */
bool dg_pool_crowded(const struct dg_pool *pool);

/* Call task(arg, i) for i in 0..n-1, each once; returns when all are done. pool NULL: runs here. */
void dg_pool_run(struct dg_pool *pool, size_t n, void (*task)(void *arg, size_t i), void *arg);

#endif
