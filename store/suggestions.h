/* Better translations that users suggest, in one SQLite file, for the operator to read. Any
 * thread. */
#ifndef DG_STORE_SUGGESTIONS_H
#define DG_STORE_SUGGESTIONS_H

#include "base/error.h"

#include <stdint.h>

#define DG_SUGGESTIONS_BYTES 268435456 /* limit for all texts of a file together */

struct dg_suggestion {
    /* the source, and the suggested translation (not the model's) */
    const char *text, *translation;
    /* language codes */
    const char *source, *target;
    int64_t created_s;
};

struct dg_suggestions;

/* Open the file, creating it if it is missing. DG_EFORMAT (not a file of suggestions), DG_EUNSUP (a
 * newer program's), DG_EIO. */
int dg_suggestions_open(const char *path, struct dg_suggestions **out, struct dg_error *err);
/* Check that it would open; nothing is written. */
int dg_suggestions_check(const char *path, struct dg_error *err);
void dg_suggestions_close(struct dg_suggestions *s); /* NULL is fine */
/* How often its file could not be read or written, other than by a lock. Any thread. */
uint64_t dg_suggestions_failures(const struct dg_suggestions *s);

/* Store a suggestion; a duplicate changes nothing. DG_EAGAIN: the file is full. */
int dg_suggestions_add(
    struct dg_suggestions *s, const struct dg_suggestion *one, struct dg_error *err);

#endif
