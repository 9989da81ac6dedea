/* A text and its translation by a model, line by line: training pairs for a student (distillation;
 * Kim & Rush, 2016), or of text in the target language (back-translation; Sennrich et al., 2016).
 * One thread at a time; the model's own threads work. */
#ifndef DG_TRAINER_SYNTHETIC_TRANSLATED_H
#define DG_TRAINER_SYNTHETIC_TRANSLATED_H

#include "trainer/score/bulk.h"

#include <stdbool.h>

struct dg_translated_options {
    struct dg_bulk_options model;
    /* Lines, plain or gzip. */
    const char *text;
    /* Skip this many first lines; use this many after them, 0: all. */
    uint64_t skip, lines;
    /* Files to write: the text's lines, and their translations, line-aligned. */
    const char *out_text, *out_translation;
    bool quiet;
    /* Non-zero: saved, and DG_ECANCELED; NULL never. */
    const volatile int *stop;
};

/* Lines that were read, and of them: pairs written, and lines left out with their translation
 * because they are no text (not UTF-8, control characters, empty), or because the model did not
 * manage (an answer that is empty, was caught in a loop, or met its length limit). */
struct dg_translated {
    uint64_t read, kept, no_text, failed;
};

/* Writes both files at once, or none: until then their ".part" grows, and the same call later
 * continues it. */
int dg_translated_write(
    const struct dg_translated_options *o, struct dg_translated *out, struct dg_error *err);

#endif
