/* Parts that the verbs share in which a model makes or judges training text. Main thread only. */
#ifndef DG_TRAINER_VERBS_SYNTHETIC_H
#define DG_TRAINER_VERBS_SYNTHETIC_H

#include "trainer/args.h"
#include "trainer/synthetic/translated.h"

/* What the bundle says about itself. */
struct dg_synthetic_model {
    char *from, *to, *name, *version, *licence;
    /* True if it also translates back. */
    bool back;
};

/* Read the bundle that the first word names. The languages are the command line's, else the
 * bundle's only pair. Call dg_synthetic_model_free also after a failure. */
int dg_synthetic_model_read(
    const struct dg_args *a, struct dg_synthetic_model *m, struct dg_error *err);
void dg_synthetic_model_free(struct dg_synthetic_model *m);
/* The options that put it to work; they borrow the languages. */
struct dg_bulk_options dg_synthetic_model_options(
    const struct dg_args *a, const struct dg_synthetic_model *m);

/* Print the names and counts of translated files. */
void dg_synthetic_print(const struct dg_translated *t, const char *text, const char *translation);

#endif
