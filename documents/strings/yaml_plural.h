/* Plural forms in YAML, as Rails has them: a mapping whose keys are categories of CLDR.
 *
 *   dogs:
 *     one: "%{count} dog"
 *     other: "%{count} dogs"
 *
 * Where the target language has more of them ("few" in Polish), they are added with the translation
 * of `other`: before i18n 1.13, Rails raises an error for a number whose category is missing. Only
 * for documents/. One thread at a time. */
#ifndef DG_DOCUMENTS_STRINGS_YAML_PLURAL_H
#define DG_DOCUMENTS_STRINGS_YAML_PLURAL_H

#include "documents/strings/plural_copy.h"
#include "documents/strings/yaml_scalar.h"

struct dg_yaml_plural {
    /* its categories, a bit each; a key is none */
    unsigned seen;
    bool other_keys;
    /* the value that was read last belongs to `other` */
    bool at_other;
    /* where the key `other` begins, and its value, if that is a string */
    size_t key;
    struct dg_plural_copy other;
    enum dg_yaml_style style;
};

/* Count a key of the mapping; its first byte is `at`. */
void dg_yaml_plural_read_key(struct dg_yaml_plural *f, const char *key, size_t n, size_t at);

/* Add the categories that x->target has and the mapping lacks, after `other`. DG_ENOMEM,
 * DG_ELIMIT. */
int dg_yaml_plural_add(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_yaml_plural *f, struct dg_error *err);

#endif
