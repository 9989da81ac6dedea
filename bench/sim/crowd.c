#include "bench/sim/crowd.h"

#include "base/clock.h"
#include "translate/run/runner.h"

struct watch {
    uint64_t from_ns, to_ns;
    size_t from, to;
};

static void on_done(void *arg, size_t finished, size_t n)
{
    struct watch *w = arg;
    if (w->from == 0 && finished >= n / 5) {
        w->from = finished;
        w->from_ns = dg_clock_ns();
    }
    if (finished <= n - n / 10) {
        w->to = finished;
        w->to_ns = dg_clock_ns();
    }
}

int dg_sim_crowd_run(const struct dg_translator *t, const struct dg_sim_crowd *o,
    struct dg_job *const *jobs, size_t n, double *jobs_per_s, struct dg_error *err)
{
    struct dg_runner *r = NULL;
    struct watch w = {0};
    int rc = dg_runner_open(t, (int)o->workers, (int)o->threads, &o->limits, &r, err);
    if (rc == DG_OK)
        rc = dg_runner_run(r, jobs, n, on_done, &w, err);
    *jobs_per_s =
        w.to_ns > w.from_ns ? 1e9 * (double)(w.to - w.from) / (double)(w.to_ns - w.from_ns) : 0;
    dg_runner_close(r);
    return rc;
}
