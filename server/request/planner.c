#include "server/request/planner.h"

#include <pthread.h>
#include <stdlib.h>

#define START_COST 1e-6 /* seconds per byte until it is measured; plain text takes less */
#define WEIGHT 0.2      /* of the newest measurement */

enum line { SHORT, LONG, LONG_PLANS, LINES };

/* Work waiting to be planned; short and long texts are counted separately. */
struct waiting {
    uint32_t threads;
    size_t bytes;
    /* seconds of one thread per byte */
    double cost;
};

struct dg_planner {
    struct dg_executor *lines[LINES];
    pthread_mutex_t lock;
    /* guarded by lock */
    double max_seconds;
    struct waiting waiting[2];
    double tokens_per_byte;
};

static enum line line_of(enum dg_planner_step step, size_t bytes)
{
    if (bytes <= DG_SHORT_BYTES)
        return SHORT;
    return step == DG_STEP_PLAN ? LONG_PLANS : LONG;
}

int dg_planner_open(
    const struct dg_planner_options *options, struct dg_planner **out, struct dg_error *err)
{
    const uint32_t threads[LINES] = {
        options->short_threads, options->long_threads, options->long_threads};
    static const char *const names[LINES] = {
        [SHORT] = "short", [LONG] = "long", [LONG_PLANS] = "long-plans"};
    struct dg_planner *p = calloc(1, sizeof *p);
    int rc = DG_OK;
    if (!p)
        return dg_error_set(err, DG_ENOMEM, "no memory for planning");
    p->max_seconds = options->max_seconds;
    p->waiting[0] = (struct waiting){options->short_threads, 0, START_COST};
    p->waiting[1] = (struct waiting){options->long_threads, 0, START_COST};
    pthread_mutex_init(&p->lock, NULL);
    for (int i = 0; i < LINES && rc == DG_OK; i++) {
        const struct dg_executor_options o = {.name = names[i], .threads = threads[i]};
        rc = dg_executor_open(&o, &p->lines[i], err);
    }
    if (rc != DG_OK) {
        dg_planner_close(p);
        return rc;
    }
    *out = p;
    return DG_OK;
}

void dg_planner_close(struct dg_planner *p)
{
    if (!p)
        return;
    for (int i = 0; i < LINES; i++)
        dg_executor_close(p->lines[i]);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void dg_planner_set_bound(struct dg_planner *p, double max_seconds)
{
    pthread_mutex_lock(&p->lock);
    p->max_seconds = max_seconds;
    pthread_mutex_unlock(&p->lock);
}

static double seconds_of(const struct waiting *w, size_t bytes)
{
    return (double)bytes * w->cost / w->threads;
}

static struct waiting *waiting_of(struct dg_planner *p, size_t bytes)
{
    return &p->waiting[bytes > DG_SHORT_BYTES];
}

int dg_planner_admit(struct dg_planner *p, size_t bytes, struct dg_error *err)
{
    int rc = DG_OK;
    pthread_mutex_lock(&p->lock);
    struct waiting *w = waiting_of(p, bytes);
    double before = seconds_of(w, w->bytes), all = seconds_of(w, w->bytes + bytes);
    if (w->bytes > 0 && all > p->max_seconds)
        rc = dg_error_set(err, DG_EAGAIN,
            "%.1f s of text work are waiting, %.1f s more would exceed the limit of %g", before,
            all - before, p->max_seconds);
    else
        w->bytes += bytes;
    pthread_mutex_unlock(&p->lock);
    return rc;
}

void dg_planner_planned(struct dg_planner *p, size_t bytes, uint64_t took_ns, size_t tokens)
{
    pthread_mutex_lock(&p->lock);
    struct waiting *w = waiting_of(p, bytes);
    w->bytes -= bytes;
    if (took_ns > 0 && bytes > 0)
        w->cost += WEIGHT * ((double)took_ns / 1e9 / (double)bytes - w->cost);
    if (tokens > 0 && bytes > 0)
        p->tokens_per_byte += (p->tokens_per_byte > 0 ? WEIGHT : 1) *
                              ((double)tokens / (double)bytes - p->tokens_per_byte);
    pthread_mutex_unlock(&p->lock);
}

size_t dg_planner_tokens(struct dg_planner *p, size_t bytes)
{
    pthread_mutex_lock(&p->lock);
    size_t tokens = (size_t)((double)bytes * p->tokens_per_byte);
    pthread_mutex_unlock(&p->lock);
    return tokens;
}

bool dg_planner_post(
    struct dg_planner *p, enum dg_planner_step step, size_t bytes, struct dg_work *w)
{
    return dg_executor_post(p->lines[line_of(step, bytes)], w);
}

bool dg_planner_cancel(
    struct dg_planner *p, enum dg_planner_step step, size_t bytes, struct dg_work *w)
{
    return dg_executor_cancel(p->lines[line_of(step, bytes)], w);
}
