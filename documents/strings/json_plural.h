/* Plural forms in JSON: an object whose keys are categories of CLDR, or neighbouring keys that end
 * with them, as i18next has them.
 *
 *   "dogs": {"one": "{{count}} dog", "other": "{{count}} dogs"}
 *   "dogs_one": "{{count}} dog", "dogs_other": "{{count}} dogs"
 *
 * Where the target language has more of them ("few" in Polish), they are added with the translation
 * of `other`: i18next shows the key of a number whose category is missing. Only for documents/. One
 * thread at a time. */
#ifndef DG_DOCUMENTS_STRINGS_JSON_PLURAL_H
#define DG_DOCUMENTS_STRINGS_JSON_PLURAL_H

#include "documents/strings/plural_copy.h"

/* The forms that were read last in an object; zero at its begin. */
struct dg_json_plural {
    /* bytes of their keys before the category, with "_"; equal: the keys are categories */
    struct dg_span stem;
    /* categories, a bit each; the object has keys that are none */
    unsigned seen;
    bool other_keys;
    /* the value that comes next belongs to `other`; its key, with quotation marks */
    bool at_other;
    struct dg_span key;
    struct dg_plural_copy other;
};

/* Read a key, a span with its quotation marks. If forms end before it, those are added that
 * x->target has and the file lacks. DG_ENOMEM, DG_ELIMIT. */
int dg_json_plural_read_key(struct dg_extract *x, struct dg_extract_part *p,
    struct dg_json_plural *f, struct dg_span key, struct dg_error *err);
/* Read the string after it, whose segments began with p->segments[first]. */
void dg_json_plural_read_value(
    struct dg_json_plural *f, const struct dg_extract_part *p, struct dg_span value, size_t first);
/* Add the forms that are missing, at the end of the object. DG_ENOMEM, DG_ELIMIT. */
int dg_json_plural_end(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_json_plural *f, struct dg_error *err);

#endif
