/* `dragoman-train languages`: trains a model that detects languages (text/detect/model.h) on plain
 * texts, one file or more per language: logistic regression over the model's own features, on the
 * first words of lines and on words from their middle, so that it learns to tell from few words.
 * Main thread only. */
#ifndef DG_TRAINER_DETECT_DETECTOR_H
#define DG_TRAINER_DETECT_DETECTOR_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_make_detector {
    /* [n] "en=FILE", plain or gzip; a language may occur several times */
    const char *const *texts;
    size_t n;
    const char *out;
    /* examples used; 0: two million */
    uint64_t examples;
};

struct dg_made_detector {
    size_t languages;
    uint64_t lines;
    /* mean cross-entropy of the last quarter of the examples, before each was learnt, in nats */
    double loss;
};

/* The same texts in the same order give the same file. DG_EINVAL, too, when `out` is one of them.
 */
int dg_detector_make(
    const struct dg_make_detector *o, struct dg_made_detector *out, struct dg_error *err);

#endif
