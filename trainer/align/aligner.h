/* Aligns the pieces of a data set's pairs for guided alignment: two lexicons
 * (trainer/align/lexicon.h) with a prior for the diagonal, one per direction, learned from at most
 * DG_LEXICON_PAIRS pairs. Of their most probable links the intersection is kept and extended by
 * neighbouring links of the union ("grow-diag", Koehn et al. 2003). One thread. */
#ifndef DG_TRAINER_ALIGN_ALIGNER_H
#define DG_TRAINER_ALIGN_ALIGNER_H

#include "kernels/train.h"
#include "trainer/data/dataset.h"

/* Part of the prepared data's key: change it whenever the result changes. */
#define DG_LINKS_METHOD "lexicon-2"

struct dg_aligner;

struct dg_aligner_options {
    uint32_t source_vocab, target_vocab;
    /* never linked */
    int32_t eos;
    /* another source piece that is never linked (<bt>); 0 or -1: none */
    int32_t unlinked;
};

struct dg_aligner *dg_aligner_new(const struct dg_dataset *d, const struct dg_aligner_options *o);
void dg_aligner_free(struct dg_aligner *a); /* NULL is fine */

/* Links of one pair of the data set, sorted by query (target piece); borrowed until the next call.
 * None if a side is longer than DG_LEXICON_PIECES. without: a source piece that is never linked
 * (the target language's tag); -1: none. */
const struct dg_link *dg_aligner_links(
    struct dg_aligner *a, uint64_t sentence, int32_t without, size_t *n);

/* Only the growing step, for tests. there[j], back[i]: index of the linked piece on the other side,
 * or -1. Writes links[n_source * n_target] sorted by target and returns their number. */
size_t dg_aligner_grow(const int32_t *there, uint32_t n_target, const int32_t *back,
    uint32_t n_source, struct dg_link *links);

#endif
