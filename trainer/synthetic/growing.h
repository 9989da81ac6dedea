/* Output files that grow for hours, and go on after a stop or a crash where they were. They are
 * "PATH.part" until all is done, then renamed; "FIRST.json", written after each slice, says what
 * they are made of, how many bytes of each hold, and what the caller wants to remember. One thread
 * at a time. */
#ifndef DG_TRAINER_SYNTHETIC_GROWING_H
#define DG_TRAINER_SYNTHETIC_GROWING_H

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum { DG_GROWING_FILES = 2 };

struct dg_growing;

/* Add what the file is, its path and a hash of its bytes, to made_of under this name. */
int dg_growing_add_input(
    struct dg_json *made_of, const char *name, const char *path, struct dg_error *err);

/* Open paths[n], n <= DG_GROWING_FILES, at their end. made_of: what decides the content; parts that
 * were begun with another begin again. *state: what was last saved, borrowed until the next save;
 * NULL at the beginning. DG_EINVAL: a file is there already, and is not what this call would make.
 */
int dg_growing_open(const char *const *paths, size_t n, const struct dg_json *made_of,
    struct dg_growing **out, const struct dg_json **state, struct dg_error *err);
/* Is everything there already? Then nothing may be written. */
bool dg_growing_is_done(const struct dg_growing *g);
/* NULL is fine: what was saved stays, and is where the next open goes on. */
void dg_growing_close(struct dg_growing *g);

/* text[len] and a line end to file i; a line end in it becomes a space. */
int dg_growing_line(
    struct dg_growing *g, size_t i, const char *text, size_t len, struct dg_error *err);
/* On disk, with the state from now on (taken, also on failure). */
int dg_growing_save_take(struct dg_growing *g, struct dg_json *state, struct dg_error *err);
/* All is there: the files get their names. */
int dg_growing_finish(struct dg_growing *g, struct dg_error *err);

#endif
