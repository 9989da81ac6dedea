/* Flat YAML: one mapping of scalars and lists of scalars, as Marian writes its options and
 * vocabularies. Only yaml.c uses libyaml. Const after parsing: any thread. */
#ifndef DG_CONVERT_YAML_H
#define DG_CONVERT_YAML_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct dg_yaml;

struct dg_yaml_entry {
    const char *key;
    bool is_list;
    /* [n_items]; a scalar is one item */
    const char *const *items;
    size_t n_items;
};

/* DG_EFORMAT with the line when text[n] is not one such mapping (nested values, aliases, several
 * documents, NUL characters included). `what` begins the messages. Keys may repeat; the caller
 * interprets that. */
int dg_yaml_parse(
    const char *text, size_t n, const char *what, struct dg_yaml **out, struct dg_error *err);
void dg_yaml_free(struct dg_yaml *y); /* NULL is fine */

/* In the text's order; borrowed until freed. */
size_t dg_yaml_count(const struct dg_yaml *y);
const struct dg_yaml_entry *dg_yaml_at(const struct dg_yaml *y, size_t i);
/* The first entry with that key, or NULL. */
const struct dg_yaml_entry *dg_yaml_find(const struct dg_yaml *y, const char *key);

#endif
