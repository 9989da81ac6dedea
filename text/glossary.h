/* A glossary of one language pair: source terms with their translations, and their positions in a
 * text. An entry is found as whole words, the longest entry first, from left to right. One in small
 * letters also fits the same letters with capitals ("dog": dog, Dog, DOG); one with a capital fits
 * as it is written. Other inflections are entries of their own. Const after it is made, and counted
 * by references: any thread. */
#ifndef DG_TEXT_GLOSSARY_H
#define DG_TEXT_GLOSSARY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a source or a target. */
#define DG_GLOSSARY_TERM_BYTES 1024

struct dg_glossary;

/* An entry as it is given: UTF-8. */
struct dg_glossary_entry {
    /* [source_len], [target_len] */
    const char *source, *target;
    size_t source_len, target_len;
};

/* Copy entries[n]; of those with the same source the last counts. DG_EINVAL: an empty or too long
 * text, or one that is not UTF-8, by number. One reference. */
int dg_glossary_make(const struct dg_glossary_entry *entries, size_t n, struct dg_glossary **out,
    struct dg_error *err);
struct dg_glossary *dg_glossary_ref(struct dg_glossary *g);
void dg_glossary_unref(struct dg_glossary *g); /* NULL is fine */
size_t dg_glossary_size(const struct dg_glossary *g);

/* Bytes begin..end of a text and their translation; borrowed from the glossary. */
struct dg_glossary_match {
    size_t begin, end;
    /* [target_len] NUL-terminated, in NFC */
    const char *target;
    size_t target_len;
};

/* Matches in s[n], in order, none within another: into matches[cap]. Returns how many. */
size_t dg_glossary_find(const struct dg_glossary *g, const char *s, size_t n,
    struct dg_glossary_match *matches, size_t cap);

/* The byte after the first whole-word appearance of term[m] in s[n] from byte `from` on; 0: there
 * is none. any_case: letters' case does not count. */
size_t dg_glossary_appears(
    const char *s, size_t n, size_t from, const char *term, size_t m, bool any_case);

/* Is the character at byte `at` of s[n] (at n: the last one) a letter or digit of a word that has
 * blanks around it? */
bool dg_glossary_is_word(const char *s, size_t n, size_t at);

#endif
