/* A glossary of one language pair: source terms with their translations, and lookup of the terms in
 * a text. Entries match whole words, from left to right, the longest entry first. An entry in small
 * letters also matches with capitals ("dog": dog, Dog, DOG); one with a capital matches only as
 * written. Any white space matches any, and so do the forms of an apostrophe and of a hyphen. Other
 * inflections need entries of their own. Const once made, and reference-counted: any thread. */
#ifndef DG_TEXT_GLOSSARY_H
#define DG_TEXT_GLOSSARY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Maximum bytes of a source or a target. */
#define DG_GLOSSARY_TERM_BYTES 1024

struct dg_glossary;

/* An entry as it is given: UTF-8. */
struct dg_glossary_entry {
    /* [source_len], [target_len] */
    const char *source, *target;
    size_t source_len, target_len;
};

/* Make a glossary from copies of entries[n]; of entries with the same source the last counts. The
 * caller gets one reference. DG_EINVAL: a text is empty, too long or not UTF-8; the message has the
 * entry's number. DG_ENOMEM. */
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
    /* the entry has a capital, so it matches only as written */
    bool as_written;
};

/* Find the matches in s[n], in order and without overlaps, into matches[cap]. Returns their
 * number. */
size_t dg_glossary_find(const struct dg_glossary *g, const char *s, size_t n,
    struct dg_glossary_match *matches, size_t cap);

/* Returns the byte after the first whole-word occurrence of term[m] in s[n] from byte `from` on,
 * and sets *begin to its first byte; 0 if there is none. any_case: letter case is ignored. */
size_t dg_glossary_appears(
    const char *s, size_t n, size_t from, const char *term, size_t m, bool any_case, size_t *begin);

/* True if the character at byte `at` of s[n] (at n: the last one) is a letter or digit of a script
 * that separates words by blanks. */
bool dg_glossary_is_word(const char *s, size_t n, size_t at);
/* True if a word may begin right after s[n], without a blank: after opening brackets, hyphens,
 * slashes, apostrophes, blanks, and all characters of scripts without blanks. Which end of a
 * quotation a quote is depends on the language, so quotes open only where a blank (before s:
 * after_blank) or something that opens precedes them. */
bool dg_glossary_opens(const char *s, size_t n, bool after_blank);

#endif
