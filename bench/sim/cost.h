/* The cost of an engine's work, measured or made up: time of a step by its rows, of encoding by its
 * pieces. Plain data. Any thread. */
#ifndef DG_SIM_COST_H
#define DG_SIM_COST_H

#include "base/error.h"
#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

#define DG_SIM_POINTS 32
#define DG_SIM_COMPANIES 16

/* Linear between points of ascending x; constant before the first; with the last slope after the
 * last. */
struct dg_sim_curve {
    size_t n;
    double x[DG_SIM_POINTS], y[DG_SIM_POINTS];
};

/* How many times as long a step of one of several busy workers takes as alone with all cores.
 * Workers share the cores, and steps of few rows lose less by that than steps of many. */
struct dg_sim_company {
    uint32_t workers;
    struct dg_sim_curve times; /* by rows, or pieces encoded */
};

struct dg_sim_cost {
    struct dg_sim_curve step_us;   /* by rows that advance */
    struct dg_sim_curve encode_us; /* by source pieces of all sentences that join in one step */
    double cell_ns;                /* decoding: for each row and position that it attends to */
    double pair_ns;                /* encoding: for each pair of pieces of a sentence */
    struct dg_sim_company busy[DG_SIM_COMPANIES]; /* ascending by workers; none: no slow-down */
    size_t n_busy;
    double outside_us; /* of a step outside the engine: bookkeeping, threads that must wake up */
    /* of a request outside queue and engine: added to its latency, not to the engine's load */
    double request_us;
};

/* y at x; n = 0: 0. */
double dg_sim_curve_at(const struct dg_sim_curve *c, double x);

/* The work of one step, and the number of busy workers. */
struct dg_sim_step {
    uint32_t busy;
    uint64_t rows, cells, encode_tokens, encode_pairs;
};

/* Nanoseconds of one step. */
uint64_t dg_sim_cost_step_ns(const struct dg_sim_cost *c, const struct dg_sim_step *s);

/* Multiply all of the engine's costs by `times`. */
void dg_sim_cost_scale(struct dg_sim_cost *c, double times);

/* Multiply the slow-down by busy neighbours by `times`; if it was not measured, multiply all costs.
 */
void dg_sim_cost_scale_busy(struct dg_sim_cost *c, double times);

/* Multiply the cost of a step of the most rows by `times`, and that of the fewest by 1; linear in
 * between. */
void dg_sim_cost_tilt(struct dg_sim_cost *c, double times);

/* Read from and write to
 * {"step":{"rows":[...],"us":[...]},"encode":{"tokens":[...],"us":[...]},"cell_ns","pair_ns",
 * "outside_us","request_us","busy":[{"workers","rows":[...],"times":[...]}]}; other fields are left
 * alone. DG_EFORMAT names what is wrong. */
int dg_sim_cost_read(const struct dg_json *o, struct dg_sim_cost *out, struct dg_error *err);
int dg_sim_cost_write(const struct dg_sim_cost *c, struct dg_json *o);

#endif
