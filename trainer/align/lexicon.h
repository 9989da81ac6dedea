/* Which target pieces a source piece is translated with: word translation probabilities t(f|e) of
 * IBM Model 1 (Brown et al. 1993) over the pieces of a training set, by expectation maximisation.
 * For vocabulary shortlists, which need no more than "may come", and, with a prior for the diagonal
 * (Dyer et al. 2013), for alignments. One thread; aligning: any. */
#ifndef DG_TRAINER_ALIGN_LEXICON_H
#define DG_TRAINER_ALIGN_LEXICON_H

#include "trainer/data/dataset.h"

struct dg_lexicon;

struct dg_lexicon_options {
    uint32_t source_vocab, target_vocab;
    /* aligned with nothing */
    int32_t source_eos, target_eos;
    /* at most this many, evenly spread; 0: all */
    uint64_t pairs;
    /* 0: 5 */
    int iterations;
    /* the pairs' targets are the sources here, in all the fields above too */
    bool reversed;
    /* of the prior exp(-tension |i/n - j/m|); 0: none, as in Model 1 */
    float tension;
    /* non-zero: learning ends at once, and the caller leaves the lexicon; NULL never */
    const volatile int *stop;
};

enum { DG_LEXICON_PIECES = 200 }; /* per side: longer sentences say little about single pieces */

struct dg_lexicon *dg_lexicon_new(const struct dg_dataset *d, const struct dg_lexicon_options *o);
void dg_lexicon_free(struct dg_lexicon *l); /* NULL is fine */

struct dg_translation {
    uint32_t source, target;
    /* t(target | source) */
    float p;
};

/* All with p >= least, by source piece, most probable first (ties: smaller id). Borrowed. */
size_t dg_lexicon_translations(
    struct dg_lexicon *l, float least, const struct dg_translation **out);

/* The most probable source of each target piece of a pair, -1: none. ids[n] without </s>, at most
 * DG_LEXICON_PIECES of a side. */
void dg_lexicon_align(const struct dg_lexicon *l, const int32_t *source, uint32_t n_source,
    const int32_t *target, uint32_t n_target, int32_t *best);

/* How often each target piece came up in the pairs: [target_vocab]. Borrowed. */
const uint64_t *dg_lexicon_counts(const struct dg_lexicon *l);

#endif
