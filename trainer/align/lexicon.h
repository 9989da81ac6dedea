/* Learns which target pieces translate a source piece: word translation probabilities t(f|e) of IBM
 * Model 1 (Brown et al. 1993) over the pieces of a training set, by expectation maximisation. Used
 * for vocabulary shortlists, which only need to know which pieces may occur, and, with a prior for
 * the diagonal (Dyer et al. 2013), for alignments. One thread; dg_lexicon_align: any thread. */
#ifndef DG_TRAINER_ALIGN_LEXICON_H
#define DG_TRAINER_ALIGN_LEXICON_H

#include "trainer/data/dataset.h"

struct dg_lexicon;

struct dg_lexicon_options {
    uint32_t source_vocab, target_vocab;
    /* never aligned */
    int32_t source_eos, target_eos;
    /* learns from at most this many, evenly spread; 0: all */
    uint64_t pairs;
    /* swaps the sides: the pairs' targets are the sources, also in the fields above */
    bool reversed;
    /* tension of the prior exp(-tension |i/n - j/m|); 0: no prior, as in Model 1 */
    float tension;
    /* non-zero: learning ends at once, and the caller must not use the lexicon; NULL never */
    const volatile int *stop;
};

enum { DG_LEXICON_PIECES = 200 }; /* per side: longer sentences say little about single pieces */
/* Enough pairs for alignments, dictionaries and a run's shortlist: with 16,000 pieces they take
 * half a minute of one core and up to 1.0 GB. */
enum { DG_LEXICON_PAIRS = 200000 };

/* Index of the i-th of n pairs drawn evenly from `all`, n <= all: anywhere in the i-th of n parts,
 * always at the same place. A fixed step would find one direction alone where the two of a pair
 * take turns. */
uint64_t dg_lexicon_draw(uint64_t i, uint64_t n, uint64_t all);

/* Estimated peak memory of dg_lexicon_new and dg_lexicon_translations. Reads once each pair that
 * dg_lexicon_new would. */
size_t dg_lexicon_bytes(const struct dg_dataset *d, const struct dg_lexicon_options *o);

struct dg_lexicon *dg_lexicon_new(const struct dg_dataset *d, const struct dg_lexicon_options *o);
void dg_lexicon_free(struct dg_lexicon *l); /* NULL is fine */

struct dg_translation {
    uint32_t source, target;
    /* t(target | source) */
    float p;
};

/* All translations with p >= least, sorted by source piece, then most probable first (ties: smaller
 * id). Borrowed. */
size_t dg_lexicon_translations(
    struct dg_lexicon *l, float least, const struct dg_translation **out);

/* Set best[n_target] to the index of each target piece's most probable source piece; -1: none. Both
 * sides without </s>, at most DG_LEXICON_PIECES each. */
void dg_lexicon_align(const struct dg_lexicon *l, const int32_t *source, uint32_t n_source,
    const int32_t *target, uint32_t n_target, int32_t *best);

/* Occurrences of each target piece in the pairs: [target_vocab]. Borrowed. */
const uint64_t *dg_lexicon_counts(const struct dg_lexicon *l);

#endif
