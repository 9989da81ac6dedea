/* A line on the terminal that is redrawn in place; nothing is drawn when stderr is not a terminal.
 * One thread at a time. */
#ifndef DG_TRAINER_PROGRESS_H
#define DG_TRAINER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct dg_progress {
    /* false: never draw */
    bool on;
    /* a line is shown now */
    bool drawn;
    uint64_t last_ns;
};

/* wanted: false never draws. */
void dg_progress_init(struct dg_progress *p, bool wanted);
/* True if it is time to draw again: at most ten times a second, never when off. */
bool dg_progress_due(struct dg_progress *p);
/* Replace the line, cut to the width of the terminal. */
void dg_progress_draw(struct dg_progress *p, const char *line);
/* Erase the line, before other output. */
void dg_progress_clear(struct dg_progress *p);

/* Draw "encoding  [====>   ] 1,234 of 5,000 pairs" if due. */
void dg_progress_pairs(struct dg_progress *p, const char *doing, uint64_t done, uint64_t all);

/* Progress and speed of a training run. */
struct dg_progress_training {
    int64_t update, updates;
    double loss, perplexity, tokens_per_s;
    /* not finite: unknown */
    double seconds_left;
    /* above 0: shown in place of the bar, for a line that stays */
    double epoch;
};
enum { DG_PROGRESS_LINE = 320 }; /* bytes of a line, more than any terminal is wide */
/* Write "1,200/5,000 [===>      ] loss 3.214  ppl 9.82  21,000 tokens/s  ETA 3:07" to out, at most
 * `columns` wide: first the bar gets shorter (or the epoch is dropped), then perplexity is dropped,
 * then loss; the ETA always stays. */
void dg_progress_training_line(
    const struct dg_progress_training *t, int columns, char out[DG_PROGRESS_LINE]);
/* Columns available for a line on this terminal; 79 if unknown. */
int dg_progress_columns(void);

/* "3:07", "1:02:45", "2 d 03:10"; "--:--" when not finite or negative. */
void dg_progress_time(double seconds, char out[32]);
/* 1234567 as "1,234,567". */
void dg_progress_count(uint64_t n, char out[32]);

#endif
