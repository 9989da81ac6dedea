/* Tells whether the lines of two files translate each other, or whether each translates the line
 * before or after the one beside it. Searches the other side for words that a dictionary can
 * translate, words that are spelled alike in both languages, and numbers. One thread at a time. */
#ifndef DG_TRAINER_ALIGN_RELATION_H
#define DG_TRAINER_ALIGN_RELATION_H

#include "trainer/align/dictionary.h"
#include "trainer/data/pairs.h"

struct dg_relation_counts {
    uint64_t lines;
    /* source words found in the target line before, beside and after theirs */
    uint64_t before, beside, after;
};

struct dg_relation;

/* words: borrowed; NULL: none is known. */
struct dg_relation *dg_relation_new(const struct dg_dictionary *words);
void dg_relation_free(struct dg_relation *r); /* NULL is fine */
/* Add the next pair of the file. */
void dg_relation_add(struct dg_relation *r, const struct dg_pair *p);
void dg_relation_counts(const struct dg_relation *r, struct dg_relation_counts *out);

/* Relation of a single pair. known: source words that have a translation in the dictionary or occur
 * unchanged in the target; found: those of them that occur unchanged or whose translation, by its
 * beginning, occurs in the target. Any thread. */
struct dg_relation_pair {
    uint32_t known, found;
};
struct dg_relation_pair dg_relation_of_pair(
    const struct dg_dictionary *words, const struct dg_pair *p);
/* A pair with fewer known words is not judged. */
enum { DG_RELATION_LEAST_KNOWN = 3 };

/* What the counts show. DG_RELATION_UNKNOWN: too few words were found to tell. */
enum dg_relation_kind {
    DG_RELATION_UNKNOWN,
    DG_RELATION_BESIDE,
    DG_RELATION_BEFORE,
    DG_RELATION_AFTER,
    DG_RELATION_NONE
};
enum dg_relation_kind dg_relation_kind(const struct dg_relation_counts *c);

#endif
