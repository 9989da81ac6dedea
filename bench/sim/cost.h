/* What an engine's work costs, measured or made up: time of a step by its rows, of encoding by its
 * pieces. Plain data. Any thread. */
#ifndef DG_SIM_COST_H
#define DG_SIM_COST_H

#include "base/error.h"
#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

#define DG_SIM_POINTS 32
#define DG_SIM_COMPANIES 16

/* Straight lines between points of ascending x; before the first its value, after the last the
 * last slope. */
struct dg_sim_curve {
    size_t n;
    double x[DG_SIM_POINTS], y[DG_SIM_POINTS];
};

/* What a step of one of several busy workers takes, as many times as alone with all cores: workers
 * share the cores, and few rows lose less by it than many. */
struct dg_sim_company {
    uint32_t workers;
    struct dg_sim_curve times; /* by rows, or pieces encoded */
};

struct dg_sim_cost {
    struct dg_sim_curve step_us;   /* by rows that advance */
    struct dg_sim_curve encode_us; /* by source pieces of all who join in one step */
    double cell_ns;                /* decoding: for each row and position that it attends to */
    double pair_ns;                /* encoding: for each pair of pieces of a sentence */
    struct dg_sim_company busy[DG_SIM_COMPANIES]; /* ascending by workers; none: all alike */
    size_t n_busy;
    double outside_us; /* of a step outside the engine: bookkeeping, threads that must wake up */
    /* of a request outside queue and engine: added to its latency, no load on the engine */
    double request_us;
};

/* y at x; n = 0: 0. */
double dg_sim_curve_at(const struct dg_sim_curve *c, double x);

/* What one step has to do, and how many workers are busy. */
struct dg_sim_step {
    uint32_t busy;
    uint64_t rows, cells, encode_tokens, encode_pairs;
};

/* Nanoseconds of one step. */
uint64_t dg_sim_cost_step_ns(const struct dg_sim_cost *c, const struct dg_sim_step *s);

/* All that the engine does takes so many times as long. */
void dg_sim_cost_scale(struct dg_sim_cost *c, double times);

/* Company costs so many times as much as it did; where nobody knows what it costs, everything
 * does. */
void dg_sim_cost_scale_busy(struct dg_sim_cost *c, double times);

/* A step of the most rows takes so many times as long, one of the fewest as before, the others what
 * lies between. */
void dg_sim_cost_tilt(struct dg_sim_cost *c, double times);

/* From and to
 * {"step":{"rows":[...],"us":[...]},"encode":{"tokens":[...],"us":[...]},"cell_ns","pair_ns",
 * "outside_us","request_us","busy":[{"workers","rows":[...],"times":[...]}]}; other fields are
 * left alone.
 * DG_EFORMAT names what is wrong. */
int dg_sim_cost_read(const struct dg_json *o, struct dg_sim_cost *out, struct dg_error *err);
int dg_sim_cost_write(const struct dg_sim_cost *c, struct dg_json *o);

#endif
