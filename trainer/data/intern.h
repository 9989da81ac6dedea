/* Strings numbered 0, 1, ... in the order they first came. One thread at a time. */
#ifndef DG_TRAINER_DATA_INTERN_H
#define DG_TRAINER_DATA_INTERN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_intern;

struct dg_intern *dg_intern_new(void);
void dg_intern_free(struct dg_intern *t); /* NULL is fine */
/* The number of s[n]; *id == the count before: it is new. DG_ELIMIT. */
int dg_intern_add(struct dg_intern *t, const char *s, size_t n, uint32_t *id, struct dg_error *err);
/* The number of s[n], if it was added: any thread while nobody adds. */
bool dg_intern_find(const struct dg_intern *t, const char *s, size_t n, uint32_t *id);
uint32_t dg_intern_count(const struct dg_intern *t);
/* String `id`, not NUL-terminated; until the next add. */
const char *dg_intern_text(const struct dg_intern *t, uint32_t id, size_t *n);

#endif
