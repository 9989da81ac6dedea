/* `dragoman-train languages`: a language model (text/detect/model.h) from plain texts, a file or
 * more a language: logistic regression over the model's own features, on the first words of lines
 * and on words from their midst, so that it learns to tell from few. One thread, main's. */
#ifndef DG_TRAINER_DETECT_DETECTOR_H
#define DG_TRAINER_DETECT_DETECTOR_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_make_detector {
    /* [n] "en=FILE", plain or gzip; a language may come several times */
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

/* The same texts in the same order give the same file. */
int dg_detector_make(
    const struct dg_make_detector *o, struct dg_made_detector *out, struct dg_error *err);

#endif
