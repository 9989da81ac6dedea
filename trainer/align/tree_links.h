/* Where the words of a tree's sequence (text/tree/tree.h) come from, for guided alignment: no
 * lexicon is needed, for XX number k is word k of the source. Each target piece is linked to the
 * first piece of the word that comes next, the first that has no XX before it; after the last word
 * to </s>. One thread. */
#ifndef DG_TRAINER_ALIGN_TREE_LINKS_H
#define DG_TRAINER_ALIGN_TREE_LINKS_H

#include "kernels/train.h"
#include "trainer/data/dataset.h"
#include "trainer/data/vocabulary.h"

/* Named in what decides the prepared data: change it with what comes out. */
#define DG_TREE_LINKS_METHOD "trees-1"

struct dg_tree_linker;

/* DG_EINVAL: the vocabulary of the trees has no piece that is XX and nothing else. Dataset and
 * vocabulary are borrowed. */
int dg_tree_linker_new(const struct dg_dataset *d, const struct dg_vocabulary *v,
    struct dg_tree_linker **out, struct dg_error *err);
void dg_tree_linker_free(struct dg_tree_linker *l); /* NULL is fine */

/* Of one pair of the data set, by query (target piece); borrowed until the next call. None where
 * the sequence has another number of words than the source. */
const struct dg_link *dg_tree_linker_links(struct dg_tree_linker *l, uint64_t sentence, size_t *n);

/* places[n_words]: the source piece that begins each word; end: that after the last word.
 * is_word[n_target]: is this target piece an XX? links[n_target]. How many: n_target, or 0 where
 * the numbers of words differ. */
size_t dg_tree_links(const uint32_t *places, uint32_t n_words, uint32_t end, const bool *is_word,
    uint32_t n_target, struct dg_link *links);

#endif
