/* Finds lines that share so many consecutive words with a held-out line that a model trained on
 * them has seen that line: quotations, other versions, captions after one pattern. Adding: one
 * thread. Lookups: any thread while no thread adds. */
#ifndef DG_TRAINER_DATA_NEAR_COPIES_H
#define DG_TRAINER_DATA_NEAR_COPIES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { DG_NEAR_COPY_MOST = 32 };

struct dg_near_copies;

/* words: how many in a row make a near-copy, 1 to DG_NEAR_COPY_MOST. */
struct dg_near_copies *dg_near_copies_new(int words);
void dg_near_copies_free(struct dg_near_copies *c); /* NULL is fine */
/* Add a held-out line s[n]. */
void dg_near_copies_add(struct dg_near_copies *c, const char *s, size_t n);
/* True if s[n] shares that many consecutive words with a held-out line. Only letters count, in
 * either case. */
bool dg_near_copies_has(const struct dg_near_copies *c, const char *s, size_t n);

#endif
