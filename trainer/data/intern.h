/* Strings numbered 0, 1, ... in the order they first came. One thread at a time. */
#ifndef DG_TRAINER_DATA_INTERN_H
#define DG_TRAINER_DATA_INTERN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_intern;

int dg_intern_open(struct dg_intern **out, struct dg_error *err);
void dg_intern_close(struct dg_intern *t); /* NULL is fine */
/* The number of s[n]; *id == the count before: it is new. DG_ENOMEM, DG_ELIMIT. */
int dg_intern_add(struct dg_intern *t, const char *s, size_t n, uint32_t *id, struct dg_error *err);
/* The number of s[n], if it was added: any thread while nobody adds. */
bool dg_intern_find(const struct dg_intern *t, const char *s, size_t n, uint32_t *id);
uint32_t dg_intern_count(const struct dg_intern *t);
/* String `id`, not NUL-terminated; until the next add. */
const char *dg_intern_text(const struct dg_intern *t, uint32_t id, size_t *n);

#endif
