/* Lines of files, one file after another, or of standard input. A typed line is available before
 * the next one is typed. A byte order mark at the beginning of a file is not part of its first
 * line. One thread at a time. */
#ifndef DG_CLI_LINES_H
#define DG_CLI_LINES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct dg_lines;

/* Open paths[n], borrowed. "-" is standard input, and so is an empty list. DG_EIO: a file cannot be
 * opened. */
int dg_lines_open(char *const *paths, size_t n, struct dg_lines **out, struct dg_error *err);
void dg_lines_close(struct dg_lines *l); /* NULL is fine */

/* Get the next line without its line end, borrowed until the next call; *text NULL: there are no
 * more. Without `wait`, DG_EAGAIN if no line is available yet (err untouched). DG_EIO: a file
 * cannot be read. */
int dg_lines_next(
    struct dg_lines *l, bool wait, const char **text, size_t *len, struct dg_error *err);

/* Share of the files' bytes in the lines so far, 0 to 1; negative if it cannot be known. */
double dg_lines_share(const struct dg_lines *l);

#endif
