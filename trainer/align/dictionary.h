/* Extracts words and their translations from sentence pairs: a user who types a single word expects
 * a single word, and a corpus of sentences hardly has any. Uses two lexicons
 * (trainer/align/lexicon.h) over whole words, one per direction; two words form an entry if each is
 * the other's most probable translation. Learning: one thread at a time; constant afterwards. */
#ifndef DG_TRAINER_ALIGN_DICTIONARY_H
#define DG_TRAINER_ALIGN_DICTIONARY_H

#include "base/error.h"
#include "trainer/data/pairs.h"

#include <stdbool.h>

/* Part of the prepared data's key: change it whenever the result changes. */
#define DG_DICTIONARY_METHOD "dictionary-1"

struct dg_dictionary;

struct dg_dictionary_options {
    /* folder for temporary files, which are removed afterwards */
    const char *dir;
    /* index in the recipe's data.pairs: learns only from its sentences */
    uint32_t pair;
    const char *source_lang, *target_lang;
    /* reads only the first this many of them; 0: all. The lexicons learn from at most
     * DG_LEXICON_PAIRS of those */
    uint64_t most_pairs;
};

/* Reads all pairs twice, and skips those that are left out. */
int dg_dictionary_learn(struct dg_pairs *pairs, const struct dg_dictionary_options *o,
    struct dg_dictionary **out, struct dg_error *err);
void dg_dictionary_close(struct dg_dictionary *w); /* NULL is fine */

/* An entry for each word and its translation as written within sentences, then one with a capital
 * first letter on both sides if that differs; in the order of the source words' first occurrence.
 * Words that are the same in both languages have no entry. Borrowed; not NUL-terminated. */
struct dg_dictionary_entry {
    const char *source, *target;
    uint32_t source_len, target_len;
    /* used from source to target, and from target to source ("house" gives "Haus", but "Haus" gives
     * "House") */
    bool there, back;
};
size_t dg_dictionary_count(const struct dg_dictionary *w);
struct dg_dictionary_entry dg_dictionary_at(const struct dg_dictionary *w, size_t i);
/* Find the first entry whose source is exactly s[n]. w NULL: there is none. */
bool dg_dictionary_find(
    const struct dg_dictionary *w, const char *s, size_t n, struct dg_dictionary_entry *out);

#endif
