/* Output files that grow for hours and continue after a stop or a crash. They are named "PATH.part"
 * until everything is done, then renamed; "FIRST.json" (FIRST: the first path), written after each
 * slice, records their inputs, the valid bytes of each, and the caller's state. One thread at a
 * time. */
#ifndef DG_TRAINER_SYNTHETIC_GROWING_H
#define DG_TRAINER_SYNTHETIC_GROWING_H

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum { DG_GROWING_FILES = 2 };

struct dg_growing;

/* DG_EINVAL unless an input is a regular file: one is read once for its hash, then for its text. */
int dg_growing_check_input(const char *path, struct dg_error *err);
/* Add the file's path and a hash of its bytes to made_of under this name, once it was checked. */
int dg_growing_add_input(
    struct dg_json *made_of, const char *name, const char *path, struct dg_error *err);

/* Open paths[n], n <= DG_GROWING_FILES, at their end. made_of: the inputs of the content; parts
 * made of other inputs start over. *state: the last saved state, borrowed until the next save; NULL
 * at the beginning. DG_EINVAL: a finished file exists that was made of something else, or one of
 * the files is an input. */
int dg_growing_open(const char *const *paths, size_t n, const struct dg_json *made_of,
    struct dg_growing **out, const struct dg_json **state, struct dg_error *err);
/* True if everything is already done; nothing may be written then. */
bool dg_growing_is_done(const struct dg_growing *g);
/* NULL is allowed. The saved state stays, and the next open continues there; parts without a saved
 * state are deleted. */
void dg_growing_close(struct dg_growing *g);

/* Write text[len] and a line end to file i; line ends in the text become spaces. */
int dg_growing_line(
    struct dg_growing *g, size_t i, const char *text, size_t len, struct dg_error *err);
/* Sync the files to disk and save the state (taken, also on failure). */
int dg_growing_save_take(struct dg_growing *g, struct dg_json *state, struct dg_error *err);
/* Save that everything is written, then rename the files. The next open renames those that a crash
 * left. */
int dg_growing_finish(struct dg_growing *g, struct dg_error *err);

#endif
