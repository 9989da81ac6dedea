/* Strings numbered 0, 1, ... in the order they first came. One thread at a time. */
#ifndef DG_TRAINER_DATA_STRING_TABLE_H
#define DG_TRAINER_DATA_STRING_TABLE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_string_table;

struct dg_string_table *dg_string_table_new(void);
void dg_string_table_free(struct dg_string_table *t); /* NULL is fine */
/* The number of s[n]; *id == the count before: it is new. DG_ELIMIT. */
int dg_string_table_add(
    struct dg_string_table *t, const char *s, size_t n, uint32_t *id, struct dg_error *err);
/* The number of s[n], if it was added: any thread while no thread adds. */
bool dg_string_table_find(const struct dg_string_table *t, const char *s, size_t n, uint32_t *id);
uint32_t dg_string_table_count(const struct dg_string_table *t);
/* String `id`, not NUL-terminated; until the next add. */
const char *dg_string_table_text(const struct dg_string_table *t, uint32_t id, size_t *n);

#endif
