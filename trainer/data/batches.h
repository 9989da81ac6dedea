/* The batches of a data set as text, for other trainers to train on the very same ones. One thread
 * at a time. */
#ifndef DG_TRAINER_DATA_BATCHES_H
#define DG_TRAINER_DATA_BATCHES_H

#include "trainer/data/dataset.h"

#include <stdio.h>

/* The next batch as one line of JSON: {"source":[[ids of a sentence, </s> last],
 * ...],"target":[...]}. */
int dg_batches_print(struct dg_dataset *d, FILE *out, struct dg_error *err);

#endif
