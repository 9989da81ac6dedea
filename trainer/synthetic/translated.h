/* Translates a text with a model, line by line, into training pairs for a student (distillation;
 * Kim & Rush, 2016) or from text in the target language (back-translation; Sennrich et al., 2016).
 * One thread at a time; the model uses threads of its own. */
#ifndef DG_TRAINER_SYNTHETIC_TRANSLATED_H
#define DG_TRAINER_SYNTHETIC_TRANSLATED_H

#include "trainer/score/bulk.h"

#include <stdbool.h>

struct dg_translated_options {
    struct dg_bulk_options model;
    /* File of lines, plain or gzip. */
    const char *text;
    /* Skip this many lines at the start; use this many after them, 0: all. */
    uint64_t skip, lines;
    /* Files to write: the text's lines, and their translations, line-aligned. */
    const char *out_text, *out_translation;
    bool quiet;
    /* Non-zero: save and return DG_ECANCELED; NULL never. */
    const volatile int *stop;
};

/* Lines read; of these, pairs written, lines left out because they are not text (not UTF-8, control
 * characters, empty), and lines left out because the model failed (an answer that is empty, caught
 * in a loop, or at its length limit). */
struct dg_translated {
    uint64_t read, kept, no_text, failed;
};

/* Writes both files at once, or none: until then their ".part" grows, and the same call later
 * continues it. */
int dg_translated_write(
    const struct dg_translated_options *o, struct dg_translated *out, struct dg_error *err);

#endif
