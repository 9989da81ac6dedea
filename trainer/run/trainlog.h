/* Output of a run during training: one JSON object per line in a file, and a progress bar on a
 * terminal. Whole lines are appended, so a killed run keeps its log; on resume, lines of updates
 * past the checkpoint are cut off first. A line that cannot be written (a full disk) is missing,
 * with a warning. One thread at a time. */
#ifndef DG_TRAINER_RUN_TRAINLOG_H
#define DG_TRAINER_RUN_TRAINLOG_H

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_tensorboard;
struct dg_trainlog;

/* One line of training, with sums over the updates since the last line. */
struct dg_trainlog_train {
    /* updates done and planned */
    int64_t update, updates;
    /* with or without its fraction */
    double epoch;
    /* mean smoothed loss per target piece */
    double loss;
    /* mean unsmoothed loss; perplexity = exp(nll) */
    double nll;
    /* mean loss of guided alignment per aligned piece; 0: none */
    double guided;
    double lr, grad_norm;
    /* without padding */
    uint64_t source_tokens, target_tokens;
    /* wall time of these updates, and CPU time of all ranks */
    double seconds, cpu_seconds;
    uint64_t rss_bytes;
};

struct dg_trainlog_valid {
    int64_t update;
    /* means per target piece */
    double loss, nll;
    /* NaN: not measured */
    double bleu, chrf;
    const char *bleu_signature;
    double seconds;
};

/* path: created or appended to, NULL: no lines are written, only said; keep_updates >= 0 first
 * drops lines whose "update" is larger (-1 keeps all). bar: draw the progress bar on stderr when
 * that is a terminal. */
int dg_trainlog_open(const char *path, int64_t keep_updates, bool bar, struct dg_trainlog **out,
    struct dg_error *err);
void dg_trainlog_close(struct dg_trainlog *l); /* NULL is fine */
/* Also write the numbers of training and validation lines to event files. Takes t. */
void dg_trainlog_tensorboard_take(struct dg_trainlog *l, struct dg_tensorboard *t);

/* {"kind":"train",...}; without a bar also prints a line for people. */
int dg_trainlog_train(
    struct dg_trainlog *l, const struct dg_trainlog_train *t, struct dg_error *err);
int dg_trainlog_valid(
    struct dg_trainlog *l, const struct dg_trainlog_valid *v, struct dg_error *err);
/* {"kind":"sample","update","source","reference","translation"} */
int dg_trainlog_sample(struct dg_trainlog *l, int64_t update, const char *source,
    const char *reference, const char *translation, struct dg_error *err);
/* Append any other object, adding "kind" and "time". Takes v. */
int dg_trainlog_event_take(
    struct dg_trainlog *l, const char *kind, struct dg_json *v, struct dg_error *err);
/* Call after each update: advances the bar, redrawing it at most ten times a second. tokens: of
 * this update, both sides. */
void dg_trainlog_tick(struct dg_trainlog *l, int64_t update, int64_t updates, double loss,
    double nll, uint64_t tokens);
/* Print a line for people above the bar. */
void dg_trainlog_say(struct dg_trainlog *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
