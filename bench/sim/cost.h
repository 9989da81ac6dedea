/* What an engine's work costs, measured or made up: time of a step by its rows, of encoding by its
 * pieces. Plain data. */
#ifndef DG_SIM_COST_H
#define DG_SIM_COST_H

#include "base/error.h"
#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

#define DG_SIM_POINTS 32

/* Straight lines between points of ascending x; before the first its value, behind the last the
 * last slope. */
struct dg_sim_curve {
    size_t n;
    double x[DG_SIM_POINTS], y[DG_SIM_POINTS];
};

struct dg_sim_cost {
    struct dg_sim_curve step_us;   /* by rows that advance */
    struct dg_sim_curve encode_us; /* by source pieces of all who join in one step */
    double cell_ns;                /* decoding: for each row and position that it attends to */
    double pair_ns;                /* encoding: for each pair of pieces of a sentence */
    struct dg_sim_curve busy; /* how many times as long, by workers that are busy; none: alike */
    double outside_us; /* of a step outside the engine: bookkeeping, threads that must wake up */
    double request_us; /* of a request outside queue and engine: added to its latency, no load on
                          the engine */
};

/* y at x; n = 0: 0. */
double dg_sim_curve_at(const struct dg_sim_curve *c, double x);

/* Nanoseconds of one step. */
uint64_t dg_sim_cost_step_ns(const struct dg_sim_cost *c, uint64_t rows, uint64_t cells,
    uint64_t encode_tokens, uint64_t encode_pairs);

/* All that the engine does takes so many times as long. */
void dg_sim_cost_scale(struct dg_sim_cost *c, double times);

/* From and to
 * {"step":{"rows":[...],"us":[...]},"encode":{"tokens":[...],"us":[...]},"cell_ns","pair_ns",
 * "outside_us","request_us","busy":{"workers":[...],"times":[...]}}; other fields are left alone.
 * DG_EFORMAT names what is wrong. */
int dg_sim_cost_read(const struct dg_json *o, struct dg_sim_cost *out, struct dg_error *err);
int dg_sim_cost_write(const struct dg_sim_cost *c, struct dg_json *o);

#endif
