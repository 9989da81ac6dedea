/* A bundle on one core of the CPU, tried with one sentence: by `dragoman pull` before it installs
 * it, and by `dragoman doctor`. One thread, main's. */
#ifndef DG_CLI_TRIAL_H
#define DG_CLI_TRIAL_H

#include "base/error.h"
#include "include/dragoman.h"

/* Open the bundle in `dir`, whatever device and precision the environment names. The caller closes
 * it. */
int dg_trial_open(const char *dir, struct dragoman_model **out, struct dg_error *err);

/* Translate a text with the model's first pair of languages; answer[cap] is cut where it is too
 * long. *tokens: those of the whole answer. */
int dg_trial_run(struct dragoman_model *m, const char *text, char *answer, size_t cap,
    size_t *tokens, struct dg_error *err);

#endif
