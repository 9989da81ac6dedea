/* Lines of text files, plain or gzip, one after the other; and line-aligned files side by side.
 * Memory is one line and one block, whatever the file. One thread at a time. */
#ifndef DG_TRAINER_DATA_CORPUS_H
#define DG_TRAINER_DATA_CORPUS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DG_CORPUS_MAX_LINE                                                                         \
    ((size_t)1 << 20) /* bytes; the rest of a longer line is dropped, and `cut` is set */

struct dg_line {
    /* until the next call; no line end, no byte order mark; any bytes, valid UTF-8 or not */
    const char *text;
    size_t len;
    bool cut;
};

struct dg_corpus_lines;

/* DG_ENOTFOUND or DG_EIO with the path. */
int dg_corpus_lines_open(const char *path, struct dg_corpus_lines **out, struct dg_error *err);
void dg_corpus_lines_close(struct dg_corpus_lines *l); /* NULL is fine */
/* 1 a line, 0 the end, negative an error (a damaged or cut-off gzip file is one). */
int dg_corpus_lines_next(struct dg_corpus_lines *l, struct dg_line *out, struct dg_error *err);
uint64_t dg_corpus_lines_number(
    const struct dg_corpus_lines *l); /* of the line last read, from 1 */

/* Files that belong together line by line: n <= 3 paths, NULL for one that is not there (its lines
 * are empty). */
struct dg_corpus;
int dg_corpus_open(
    const char *const *paths, size_t n, struct dg_corpus **out, struct dg_error *err);
void dg_corpus_close(struct dg_corpus *c); /* NULL is fine */
/* As dg_corpus_lines_next; DG_EFORMAT when one file ends before another, naming both. */
int dg_corpus_next(struct dg_corpus *c, struct dg_line *lines, struct dg_error *err);

#endif
