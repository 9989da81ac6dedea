/* Writes a run's curves as a TensorBoard event file: records with checksums that hold protobuf's
 * Event messages (TensorFlow's record_writer and event.proto). One thread at a time. */
#ifndef DG_TRAINER_RUN_TENSORBOARD_H
#define DG_TRAINER_RUN_TENSORBOARD_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_tensorboard;

/* Create a file "events.out.tfevents.TIME.HOST.PID.MICROSECONDS" in dir, which is created if
 * missing. A run that resumes from update `step` starts a new file, which revokes later steps of an
 * earlier file. DG_EIO. */
int dg_tensorboard_open(
    const char *dir, int64_t step, struct dg_tensorboard **out, struct dg_error *err);
void dg_tensorboard_close(struct dg_tensorboard *t); /* NULL is fine */

struct dg_tensorboard_value {
    /* "train/loss" */
    const char *tag;
    double value;
};
/* Append the values of one step as one record, whole or not at all. DG_EIO. */
int dg_tensorboard_add(struct dg_tensorboard *t, int64_t step,
    const struct dg_tensorboard_value *values, size_t n, struct dg_error *err);

#endif
