/* Words and their translations out of sentence pairs: a reader who types a single word expects one,
 * and a corpus of sentences hardly has any. Two lexicons (trainer/align/lexicon.h) over whole
 * words, one a direction; a word and its most probable translation are a pair where each is the
 * other's. One thread at a time. */
#ifndef DG_TRAINER_ALIGN_DICTIONARY_H
#define DG_TRAINER_ALIGN_DICTIONARY_H

#include "trainer/data/dedup.h"
#include "trainer/data/pairs.h"

#include <stdbool.h>

/* Part of the prepared data's key: change it whenever the result changes. */
#define DG_DICTIONARY_METHOD "dictionary-1"

struct dg_dictionary;

struct dg_dictionary_options {
    /* for temporary files, which are gone afterwards */
    const char *dir;
    /* of the recipe: only its sentences */
    uint32_t pair;
    const char *source_lang, *target_lang;
    /* reads the first this many of them; 0: all */
    uint64_t most_pairs;
    /* the lexicons learn from at most this many pairs, evenly spread; 0: 200,000 */
    uint64_t lexicon_pairs;
};

/* Reads all pairs twice. dedup (may be NULL) marks the pairs to skip. */
int dg_dictionary_learn(struct dg_pairs *pairs, const struct dg_dedup *dedup,
    const struct dg_dictionary_options *o, struct dg_dictionary **out, struct dg_error *err);
void dg_dictionary_close(struct dg_dictionary *w); /* NULL is fine */

/* A word and its translation as written within sentences, then both with a capital first letter if
 * that differs; in the order of the source words' first occurrence. Words that are the same in both
 * languages are none. Borrowed; not NUL-terminated. */
struct dg_dictionary_entry {
    const char *source, *target;
    uint32_t source_len, target_len;
    /* whether it is used from source to target, and from target to source ("Haus" is answered with
     * a capital: "house" has "Haus", but not back) */
    bool there, back;
};
size_t dg_dictionary_count(const struct dg_dictionary *w);
struct dg_dictionary_entry dg_dictionary_at(const struct dg_dictionary *w, size_t i);

#endif
