/* A vocabulary file: one piece a line, line number = id (from 0). Only for tokenizer/. A piece is
 * one or more bytes other than NUL and newline; nothing is escaped. Constant after open: any
 * thread. */
#ifndef DG_TOKENIZER_VOCAB_H
#define DG_TOKENIZER_VOCAB_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_vocab {
    /* the pieces, each NUL-terminated, in order */
    char *bytes;
    /* [size] */
    const char **pieces;
    uint32_t size;
    /* [n_slots] ids by hash, -1 where free; n_slots is a power of two */
    int32_t *slots;
    uint32_t n_slots;
};

/* DG_EFORMAT names the line: it is empty, a duplicate, or has a NUL. A zeroed struct may be passed
 * to dg_vocab_deinit. */
int dg_vocab_open(const char *path, struct dg_vocab *out, struct dg_error *err);
void dg_vocab_deinit(struct dg_vocab *v);

/* Id of piece[n], or -1. Constant time. */
int32_t dg_vocab_find(const struct dg_vocab *v, const char *piece, size_t n);

#endif
