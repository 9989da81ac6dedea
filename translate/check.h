/* A sentence, its answer's tokens and their log-probability, recorded in a bundle's manifest
 * ("check"): a program that loads it checks that the model still gives them. A bundle whose files
 * are whole may still be broken, by a converter, a conversion of numbers or a kernel. Any
 * thread. */
#ifndef DG_TRANSLATE_CHECK_H
#define DG_TRANSLATE_CHECK_H

#include "translate/translate.h"

/* Score the manifest's sentence by `model` (the translator's own, or a copy of it) on its device.
 * DG_EFORMAT: the sum is off by more than 1 % (more where matrices are rounded to 16 bits), which
 * refuses the bundle. No effect if the manifest has no check. */
int dg_check_run(const struct dg_translator *t, const struct dg_model *model, struct dg_backend *be,
    struct dg_error *err);

/* Translate a sentence with the bundle in `dir`, record the result as its check in place of an
 * earlier one, and seal the bundle again. On this machine's CPU. */
int dg_check_write(const char *dir, struct dg_error *err);

#endif
