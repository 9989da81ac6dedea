/* Glossaries and translation memories in one SQLite file: collections of pairs of texts, each of a
 * pair of languages. Texts are kept as they are given; the caller brings them into one form
 * before. Languages likewise ("en", "pt-BR"). One thread at a time for each open file; any number
 * of programs share it. */
#ifndef DG_STORE_MEMORY_H
#define DG_STORE_MEMORY_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DG_MEMORY_ID 37 /* a UUID, NUL */
#define DG_MEMORY_NAME 256

enum dg_memory_kind {
    DG_MEMORY_GLOSSARY = 1, /* terms, to be kept within sentences */
    DG_MEMORY_SENTENCES,    /* sentences, whose translations are given as they are */
};

struct dg_memory_info {
    char id[DG_MEMORY_ID];
    enum dg_memory_kind kind;
    char name[DG_MEMORY_NAME];
    int64_t created_s;
    int64_t pairs;
};

/* Texts are UTF-8 without U+0000. */
struct dg_memory_pair {
    const char *source_lang, *target_lang;
    const char *source, *target;
    size_t source_len, target_len;
};

/* Borrowed for the call; other than 0 ends the reading, which returns it. */
typedef int dg_memory_visit(void *ctx, const struct dg_memory_pair *pair, struct dg_error *err);

struct dg_memory;

/* create: make the file when it is not there. An older program's file is brought up to date.
 * DG_ENOTFOUND, DG_EFORMAT (not a file of memories), DG_EUNSUP (a newer program's), DG_EIO. */
int dg_memory_open(const char *path, bool create, struct dg_memory **out, struct dg_error *err);
void dg_memory_close(struct dg_memory *m); /* NULL is fine */

/* A new collection. DG_EINVAL where the name is empty or too long. */
int dg_memory_make(struct dg_memory *m, enum dg_memory_kind kind, const char *name, int64_t now_s,
    struct dg_memory_info *made, struct dg_error *err);
/* With all its pairs. DG_ENOTFOUND. */
int dg_memory_remove(struct dg_memory *m, const char *id, struct dg_error *err);
/* All collections, oldest first: *out[*n], to be freed. */
int dg_memory_list(
    struct dg_memory *m, struct dg_memory_info **out, size_t *n, struct dg_error *err);

/* Add pairs, all of them or none; one whose source is there already for its languages replaces it.
 * DG_ENOTFOUND. */
int dg_memory_put(struct dg_memory *m, const char *id, const struct dg_memory_pair *pairs, size_t n,
    struct dg_error *err);
/* All pairs of a collection, by languages and source. */
int dg_memory_read(
    struct dg_memory *m, const char *id, dg_memory_visit *visit, void *ctx, struct dg_error *err);

/* The translation of exactly this source (wanted's target is not read), appended to target; of
 * several collections of the kind the newest one's. DG_ENOTFOUND. */
int dg_memory_find(struct dg_memory *m, enum dg_memory_kind kind,
    const struct dg_memory_pair *wanted, struct dg_buffer *target, struct dg_error *err);

#endif
