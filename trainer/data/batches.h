/* Prints the batches of a data set as text, so that other trainers can train on exactly the same
 * batches. One thread at a time. */
#ifndef DG_TRAINER_DATA_BATCHES_H
#define DG_TRAINER_DATA_BATCHES_H

#include "trainer/data/dataset.h"

#include <stdio.h>

/* The next batch as one line of JSON: {"source":[[ids of a sentence, </s> last],
 * ...],"target":[...]}. */
int dg_batches_print(struct dg_dataset *d, FILE *out, struct dg_error *err);

#endif
