/* The check of a bundle: a sentence, the tokens of its answer and their log-probability, recorded
 * in the manifest ("check"). A program that loads the bundle checks that the model still gives the
 * same result. A bundle whose files are intact may still be broken by a converter, a conversion of
 * numbers or a kernel. Any thread. */
#ifndef DG_TRANSLATE_RUN_CHECK_H
#define DG_TRANSLATE_RUN_CHECK_H

#include "translate/translate.h"

/* Score the manifest's sentence with `model` (the translator's own, or a copy of it) on its device.
 * DG_EFORMAT: the log-probability is off by more than 1 % plus 0.02 (plus 0.03 a token where
 * matrices are rounded to 16 bits), or the check is malformed; the bundle must be refused. No
 * effect if the manifest has no check. */
int dg_check_run(const struct dg_translator *t, const struct dg_model *model, struct dg_backend *be,
    struct dg_error *err);

/* Translate a sentence with the bundle in `dir`, record the result as its check in place of an
 * earlier one, and seal the bundle again. On this machine's CPU. */
int dg_check_write(const char *dir, struct dg_error *err);

#endif
