/* Which target pieces a source piece is translated with: word translation probabilities t(f|e) of
 * IBM Model 1 (Brown et al. 1993) over the pieces of a training set, by expectation maximisation.
 * For vocabulary shortlists, which need no more than "may come". One thread. */
#ifndef DG_TRAINER_LEXICON_H
#define DG_TRAINER_LEXICON_H

#include "trainer/dataset.h"

struct dg_lexicon;

struct dg_lexicon_options {
    uint32_t source_vocab, target_vocab;
    int32_t source_eos, target_eos; /* aligned with nothing */
    uint64_t pairs;                 /* at most so many, evenly spread; 0: all */
    int iterations;                 /* 0: 5 */
};

int dg_lexicon_open(const struct dg_dataset *d, const struct dg_lexicon_options *o,
    struct dg_lexicon **out, struct dg_error *err);
void dg_lexicon_close(struct dg_lexicon *l); /* NULL is fine */

struct dg_translation {
    uint32_t source, target;
    float p; /* t(target | source) */
};

/* All with p >= least, by source piece, most probable first (ties: smaller id). Borrowed. */
size_t dg_lexicon_translations(
    struct dg_lexicon *l, float least, const struct dg_translation **out, struct dg_error *err);

/* How often each target piece came up in the pairs: [target_vocab]. Borrowed. */
const uint64_t *dg_lexicon_counts(const struct dg_lexicon *l);

#endif
