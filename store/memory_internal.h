/* Shared by memory.c (collections), memory_add.c and memory_pairs.c (their pairs). One thread at a
 * time for each open file, as in memory.h. */
#ifndef DG_STORE_MEMORY_INTERNAL_H
#define DG_STORE_MEMORY_INTERNAL_H

#include "store/db.h"
#include "store/memory.h"

struct dg_memory {
    struct dg_db db;
    /* statement of dg_memory_find, prepared at its first call */
    sqlite3_stmt *find;
};

void dg_memory_bind(sqlite3_stmt *s, int at, const char *text, size_t n);
/* The row number of a collection. DG_ENOTFOUND. */
int dg_memory_number(struct dg_memory *m, const char *id, int64_t *number, struct dg_error *err);
/* Within a transaction: add pairs[n] according to change, and update the counts. */
int dg_memory_put(struct dg_memory *m, int64_t number, enum dg_memory_kind kind,
    const struct dg_memory_change *change, struct dg_error *err);
/* Within a transaction: update a collection's counts of pairs per language pair. */
int dg_memory_count(struct dg_memory *m, int64_t number, struct dg_error *err);

#endif
