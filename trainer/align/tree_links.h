/* Links a tree's sequence (text/tree/tree.h) to the words of its source, for guided alignment. No
 * lexicon is needed: the k-th XX is word k of the source. Each target piece is linked to the first
 * piece of the next word, the first word whose XX does not precede it; after the last word, to
 * </s>. One thread. */
#ifndef DG_TRAINER_ALIGN_TREE_LINKS_H
#define DG_TRAINER_ALIGN_TREE_LINKS_H

#include "kernels/train.h"
#include "trainer/data/dataset.h"
#include "trainer/data/vocabulary.h"

/* Part of the prepared data's key: change it whenever the result changes. */
#define DG_TREE_LINKS_METHOD "trees-1"

struct dg_tree_linker;

/* DG_EINVAL: the vocabulary of the trees has no piece that is just XX. Dataset and vocabulary are
 * borrowed. */
int dg_tree_linker_new(const struct dg_dataset *d, const struct dg_vocabulary *v,
    struct dg_tree_linker **out, struct dg_error *err);
void dg_tree_linker_free(struct dg_tree_linker *l); /* NULL is fine */

/* Links of one pair of the data set, sorted by query (target piece); borrowed until the next call.
 * None if the sequence and the source have different numbers of words. */
const struct dg_link *dg_tree_linker_links(struct dg_tree_linker *l, uint64_t sentence, size_t *n);

/* places[n_words]: index of each word's first source piece; end: index of the piece after the last
 * word. is_word[n_target]: true for an XX. Writes links[n_target] and returns n_target, or 0 if the
 * numbers of words differ. */
size_t dg_tree_links(const uint32_t *places, uint32_t n_words, uint32_t end, const bool *is_word,
    uint32_t n_target, struct dg_link *links);

#endif
