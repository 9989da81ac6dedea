/* Strings numbered 0, 1, ... in the order of their first appearance. One thread at a time. */
#ifndef DG_TRAINER_DATA_STRING_TABLE_H
#define DG_TRAINER_DATA_STRING_TABLE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_string_table;

struct dg_string_table *dg_string_table_new(void);
void dg_string_table_free(struct dg_string_table *t); /* NULL is fine */
/* Set *id to the number of s[n]; s[n] is new if *id equals the count before the call. DG_ELIMIT:
 * too many strings. */
int dg_string_table_add(
    struct dg_string_table *t, const char *s, size_t n, uint32_t *id, struct dg_error *err);
/* Find the number of s[n]; false if it was not added. Any thread while no thread adds. */
bool dg_string_table_find(const struct dg_string_table *t, const char *s, size_t n, uint32_t *id);
uint32_t dg_string_table_count(const struct dg_string_table *t);
/* String `id`, not NUL-terminated; valid until the next add. */
const char *dg_string_table_text(const struct dg_string_table *t, uint32_t id, size_t *n);

#endif
