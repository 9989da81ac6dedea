/* Reads text files, plain or gzip, line by line, and line-aligned files in parallel. Memory is one
 * line and one block per file, whatever its size. One thread at a time. */
#ifndef DG_TRAINER_DATA_CORPUS_H
#define DG_TRAINER_DATA_CORPUS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes; the rest of a longer line is dropped, and `cut` is set. */
#define DG_CORPUS_MAX_LINE ((size_t)1 << 20)

struct dg_line {
    /* valid until the next call; no line end, no byte order mark; any bytes, valid UTF-8 or not */
    const char *text;
    size_t len;
    bool cut;
};

struct dg_corpus_lines;

/* DG_ENOTFOUND, DG_EIO or, if zlib has no memory, DG_ENOMEM; the message names the path. */
int dg_corpus_lines_open(const char *path, struct dg_corpus_lines **out, struct dg_error *err);
void dg_corpus_lines_close(struct dg_corpus_lines *l); /* NULL is fine */
/* Returns 1 for a line, 0 at the end, negative on error (a damaged or truncated gzip is one, and so
 * is a file of another kind that its first bytes tell: zstd, xz, bzip2, zip, UTF-16). */
int dg_corpus_lines_next(struct dg_corpus_lines *l, struct dg_line *out, struct dg_error *err);
/* Number of the line last read, from 1. */
uint64_t dg_corpus_lines_number(const struct dg_corpus_lines *l);

/* Line-aligned files: n <= 3 paths; NULL stands for a missing file, whose lines are empty. */
struct dg_corpus;
int dg_corpus_open(
    const char *const *paths, size_t n, struct dg_corpus **out, struct dg_error *err);
void dg_corpus_close(struct dg_corpus *c); /* NULL is fine */
/* As dg_corpus_lines_next; DG_EFORMAT when one file ends before another, naming both. */
int dg_corpus_next(struct dg_corpus *c, struct dg_line *lines, struct dg_error *err);
/* As dg_corpus_next, for files of which no line may be left out: DG_EFORMAT if a line is cut, or is
 * not UTF-8, naming file and line. */
int dg_corpus_next_text(struct dg_corpus *c, struct dg_line *lines, struct dg_error *err);

#endif
