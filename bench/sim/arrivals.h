/* Which requests arrive when: from a trace of the load generator, or drawn from items. Owned lists;
 * one thread at a time. */
#ifndef DG_SIM_ARRIVALS_H
#define DG_SIM_ARRIVALS_H

#include "bench/sim/sim.h"

#define DG_SIM_CLASSES 8

/* Kinds of requests to draw from: measured ones (from "items" of a cost file), or made up. */
struct dg_sim_item {
    uint32_t class;
    uint32_t first, n; /* sentences */
};

struct dg_sim_items {
    struct dg_sim_sentence *sentences; /* [n_sentences] */
    size_t n_sentences;
    struct dg_sim_item *list; /* [n] */
    size_t n;
    char classes[DG_SIM_CLASSES][32];
    size_t n_classes;
};

/* Read the cost file's "items": [{"class":"short","sentences":[[source, max_target, rows, steps,
 * blocks, steps of a second round], ...]}, ...] */
int dg_sim_items_read(const struct dg_json *list, struct dg_sim_items *out, struct dg_error *err);
/* Make up items: "short" of 5..30 source pieces and "long" of 100..200, as many steps as source
 * pieces, `beam` rows. */
int dg_sim_items_invent(uint32_t beam, struct dg_sim_items *out, struct dg_error *err);
void dg_sim_items_free(struct dg_sim_items *items); /* a zeroed one is fine */
int dg_sim_items_class(const struct dg_sim_items *items, const char *name); /* -1: none */

struct dg_sim_arrivals {
    struct dg_sim_request *list; /* [n] */
    double *real_ms;             /* [n] latency in the traced run, negative: none; NULL: no trace */
    size_t n;
};

struct dg_sim_poisson {
    /* Requests per second; 0: all at once. */
    double rate;
    size_t n;
    /* [n_classes] weights. */
    const double *share;
    /* >= 0: keep only this class's arrivals, at the same times. */
    int only;
    uint64_t seed;
};

/* Draw n requests with exponential distances in time. */
int dg_sim_arrivals_poisson(const struct dg_sim_items *items, const struct dg_sim_poisson *o,
    struct dg_sim_arrivals *out, struct dg_error *err);

/* Read the arrivals in a trace of dragoman-load: those of a phase (-1: all), `speed` times as
 * dense. DG_EFORMAT names the line. */
int dg_sim_arrivals_trace(const struct dg_sim_items *items, const char *path, double speed,
    int phase, struct dg_sim_arrivals *out, struct dg_error *err);
void dg_sim_arrivals_free(struct dg_sim_arrivals *a);

#endif
