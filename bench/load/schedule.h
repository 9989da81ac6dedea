/* Which requests are sent, and when: drawn from a seed before the run, so that the same seed gives
 * the same arrivals to everything that is compared. Records also hold the results of the run. Plain
 * data. One thread, main's. */
#ifndef DG_LOAD_SCHEDULE_H
#define DG_LOAD_SCHEDULE_H

#include "bench/load/items.h"
#include "bench/load/reply.h"

/* How a request ended, as seen from the client. */
enum dg_load_outcome {
    DG_LOAD_PENDING,  /* not over when the run ended */
    DG_LOAD_OK,       /* 200, and the answer expected */
    DG_LOAD_WRONG,    /* 200, but another answer */
    DG_LOAD_REFUSED,  /* another status */
    DG_LOAD_LOST,     /* the connection ended without a whole reply */
    DG_LOAD_UNSENT,   /* no connection was available */
    DG_LOAD_VANISHED, /* the client left on purpose */
    DG_LOAD_OUTCOMES
};

/* How a client vanishes. */
enum dg_load_vanish {
    DG_LOAD_STAYS,
    DG_LOAD_CLOSES,    /* whole request, then close */
    DG_LOAD_RESETS,    /* whole request, then reset */
    DG_LOAD_HALF_BODY, /* half of the body, then close */
    DG_LOAD_HALF_CLOSE /* whole request, then close of the sending side only */
};

struct dg_load_record {
    uint64_t due_ns, sent_ns, done_ns; /* since the start of the run; sent: last byte; 0 = never */
    uint64_t vanish_ns;                /* how long after the send began */
    uint32_t item;
    uint16_t status;
    uint8_t phase, class, outcome, vanish;
    float timing[DG_LOAD_TIMINGS];
};

#define DG_LOAD_PHASES 16

struct dg_load_phase {
    double rate, seconds; /* requests per second; duration */
};

struct dg_load_plan {
    struct dg_load_phase phases[DG_LOAD_PHASES];
    size_t n_phases;
    double share[DG_LOAD_CLASSES]; /* weights */
    int only;                      /* keep only this class's arrivals; -1: all */
    double vanish;                 /* share of requests whose client vanishes */
    double vanish_seconds;         /* it vanishes within this time, uniform */
    size_t max_records;
    uint64_t seed;
};

/* Poisson arrivals, phase after phase; classes by share; each class cycles through its items in a
 * shuffled order, so that a sentence is repeated as late as possible. out[*n] is malloc'd.
 * DG_ELIMIT when there are more than max_records. */
int dg_load_schedule_poisson(const struct dg_load_plan *plan, const struct dg_load_items *items,
    struct dg_load_record **out, size_t *n, struct dg_error *err);

/* n records of the same mix, all due at once. */
int dg_load_schedule_closed(const struct dg_load_plan *plan, const struct dg_load_items *items,
    size_t n, struct dg_load_record **out, struct dg_error *err);

/* Each item once, in order. */
int dg_load_schedule_each(
    const struct dg_load_items *items, struct dg_load_record **out, struct dg_error *err);

#endif
