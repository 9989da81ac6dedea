/* The results of a run, as JSON, and as a trace for the simulator. Plain functions. One thread,
 * main's. */
#ifndef DG_LOAD_REPORT_H
#define DG_LOAD_REPORT_H

#include "bench/load/client.h"

struct dg_load_run {
    const struct dg_load_items *items;
    const struct dg_load_plan *plan;
    const struct dg_load_record *records; /* [n] */
    size_t n;
    struct dg_load_client_result result;
    double warm_up_seconds; /* closed loop: not in throughput and latencies */
    bool closed;
    uint64_t cpu_ns; /* the generator's own */
};

/* An object with throughput, phases (each with classes: counts, latencies in milliseconds),
 * outcomes and the generator's own figures; NULL when memory is out. */
struct dg_json *dg_load_report(const struct dg_load_run *run);

/* Write one line per request, tab-separated, with a header line: phase class item due_ns sent_ns
 * done_ns outcome status sentences source_tokens target_tokens. */
int dg_load_report_trace(const struct dg_load_run *run, const char *path, struct dg_error *err);

#endif
