/* Lines of files, one file after the other, or of standard input; a line that is typed can be had
 * before the next one is. One thread at a time. */
#ifndef DG_CLI_LINES_H
#define DG_CLI_LINES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct dg_lines;

/* Of paths[n], borrowed; "-" is standard input, and so are no paths at all. DG_EIO: one cannot be
 * opened. */
int dg_lines_open(char *const *paths, size_t n, struct dg_lines **out, struct dg_error *err);
void dg_lines_close(struct dg_lines *l); /* NULL is fine */

/* The next line without its end, borrowed until the next call; *text NULL: there are no more.
 * Without `wait` DG_EAGAIN when no line is there yet (err untouched). DG_EIO, DG_ENOMEM. */
int dg_lines_next(
    struct dg_lines *l, bool wait, const char **text, size_t *len, struct dg_error *err);

/* How much of the files' bytes was read, 0 to 1; negative when that cannot be known. */
double dg_lines_share(const struct dg_lines *l);

#endif
