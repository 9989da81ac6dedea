/* A run's JSONL log as curves: one SVG with loss, dev BLEU, learning rate and tokens per second
 * over updates. One thread, main's. */
#ifndef DG_TRAINER_RUN_PLOT_H
#define DG_TRAINER_RUN_PLOT_H

#include "base/error.h"

#include <stddef.h>

/* Read the logs (one or several runs to compare, labelled by their paths) and write `svg`.
 * DG_EINVAL when they hold no training lines, or when svg is one of them. */
int dg_plot(const char *const *logs, size_t n, const char *svg, struct dg_error *err);

#endif
