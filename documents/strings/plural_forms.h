/* The plural forms of languages. Any thread. Only for documents/. */
#ifndef DG_DOCUMENTS_STRINGS_PLURAL_FORMS_H
#define DG_DOCUMENTS_STRINGS_PLURAL_FORMS_H

#include <stdbool.h>
#include <stddef.h>

/* xgettext's placeholder in a new template. */
#define DG_PLURAL_FORMS_UNKNOWN "nplurals=INTEGER; plural=EXPRESSION;"

/* The Plural-Forms of a language whose forms begin with the one for 1; DG_PLURAL_FORMS_UNKNOWN for
 * all other languages. Static storage. */
const char *dg_plural_forms(const char *language);

/* How many forms these are; 0: they do not say. */
size_t dg_plural_forms_count(const char *forms);

/* True if the category "one" of CLDR is for the number 1 and for no other integer: not in French
 * (0, 1) and Russian (1, 21, 31, ...), nor where it is unknown. */
bool dg_plural_one_is_exact(const char *language);

/* The categories of CLDR: zero, one, two, few, many, other. */
enum { DG_PLURAL_OTHER = 5, DG_PLURAL_CATEGORIES };

/* The number of a category by its name[n]; DG_PLURAL_CATEGORIES: it is none. */
unsigned dg_plural_category(const char *name, size_t n);

/* Of a set of categories, a bit for each number: true if it lacks this one; true if a language's
 * forms may be in it, `other` and one more. */
bool dg_plural_lacks(unsigned set, const char *category);
bool dg_plural_has_forms(unsigned set);

/* A category of CLDR, and numbers that are of it. */
struct dg_plural_sample {
    const char *category;
    /* in digits, at least one that is no part of the other */
    const char *numbers[2];
};

/* The categories that a language has beside "one" and "other" for numbers from 2 to 99; the last
 * one's name is NULL. Static storage. */
const struct dg_plural_sample *dg_plural_samples(const char *language);

/* One more category, which only a few numbers have: zero for 0 in Arabic and Welsh, many for a
 * million in French and its relatives; NULL: there is none. Static storage. */
const char *dg_plural_rare(const char *language);

#endif
