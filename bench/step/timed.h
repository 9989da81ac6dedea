/* A backend that passes every op on to another and records the time of each kind: the per-op table
 * of step-bench. Ops are distinguished by phase (encoder, step) and by the name of the weight,
 * without layer numbers. One thread at a time, like any backend. */
#ifndef DG_BENCH_STEP_TIMED_H
#define DG_BENCH_STEP_TIMED_H

#include "kernels/backend.h"

enum dg_timed_phase { DG_TIMED_ENCODE, DG_TIMED_STEP };

struct dg_timed_entry {
    char name[48]; /* "ffn.w1", "self attention", "residual + norm", ... */
    enum dg_timed_phase phase;
    uint64_t calls, ns;
    double macs, bytes; /* for matrix products: multiply-adds, and weights read; else 0 */
};

/* `inner` is borrowed until close. */
int dg_timed_open(struct dg_backend *inner, struct dg_backend **out, struct dg_error *err);
void dg_timed_close(struct dg_backend *be); /* NULL is fine */

/* The next `passes` embedding lookups begin encoder passes; those after them begin steps. */
void dg_timed_expect_encoder(struct dg_backend *be, uint32_t passes);
void dg_timed_reset(struct dg_backend *be);
/* The counts since the last reset; borrowed until the next op. */
size_t dg_timed_entries(struct dg_backend *be, const struct dg_timed_entry **out);

#endif
