/* Output files that grow for hours and continue after a stop or a crash. They are "PATH.part" until
 * all is done, then renamed; "FIRST.json", written after each slice, records their inputs, the
 * valid bytes of each, and the caller's state. One thread at a time. */
#ifndef DG_TRAINER_SYNTHETIC_GROWING_H
#define DG_TRAINER_SYNTHETIC_GROWING_H

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum { DG_GROWING_FILES = 2 };

struct dg_growing;

/* Add the file's path and a hash of its bytes to made_of under this name. */
int dg_growing_add_input(
    struct dg_json *made_of, const char *name, const char *path, struct dg_error *err);

/* Open paths[n], n <= DG_GROWING_FILES, at their end. made_of: the inputs of the content; parts
 * with other inputs start again. *state: the last saved state, borrowed until the next save; NULL
 * at the beginning. DG_EINVAL: a file exists that this call would not make. */
int dg_growing_open(const char *const *paths, size_t n, const struct dg_json *made_of,
    struct dg_growing **out, const struct dg_json **state, struct dg_error *err);
/* Is everything there already? Then nothing may be written. */
bool dg_growing_is_done(const struct dg_growing *g);
/* NULL is allowed. The saved state stays, and the next open continues there. */
void dg_growing_close(struct dg_growing *g);

/* text[len] and a line end to file i; a line end in it becomes a space. */
int dg_growing_line(
    struct dg_growing *g, size_t i, const char *text, size_t len, struct dg_error *err);
/* On disk, with the state from now on (taken, also on failure). */
int dg_growing_save_take(struct dg_growing *g, struct dg_json *state, struct dg_error *err);
/* Everything is written: rename the files. */
int dg_growing_finish(struct dg_growing *g, struct dg_error *err);

#endif
