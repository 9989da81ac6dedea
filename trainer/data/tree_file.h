/* Reads the trees of a treebank, plain or gzip, one by one: each has one line, or goes on in
 * indented lines, as the Penn Treebank's do. Memory is one tree. One thread at a time. */
#ifndef DG_TRAINER_DATA_TREE_FILE_H
#define DG_TRAINER_DATA_TREE_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_tree_file;

/* As dg_corpus_lines_open. */
int dg_tree_file_open(const char *path, struct dg_tree_file **out, struct dg_error *err);
void dg_tree_file_close(struct dg_tree_file *f); /* NULL is fine */
/* Returns 1 for a tree's text, which may be broken (valid until the next call), 0 at the end,
 * negative on error. Lines of white space between trees are skipped. */
int dg_tree_file_next(struct dg_tree_file *f, const char **text, size_t *n, struct dg_error *err);
/* The line that the tree last read begins at, from 1. */
uint64_t dg_tree_file_line(const struct dg_tree_file *f);

#endif
