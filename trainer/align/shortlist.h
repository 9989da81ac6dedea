/* `dragoman-train shortlist`: makes a bundle's vocabulary shortlist (weights/shortlist.h) from the
 * pairs of a prepared folder with the same vocabularies. Main thread only. */
#ifndef DG_TRAINER_ALIGN_SHORTLIST_H
#define DG_TRAINER_ALIGN_SHORTLIST_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { DG_SHORTLIST_BEST = 50, DG_SHORTLIST_FREQUENT = 200 };

struct dg_make_shortlist {
    const char *bundle, *prepared_dir;
    /* uses at most this many pairs; 0: a million */
    uint64_t pairs;
    /* translations of a source piece; 0: DG_SHORTLIST_BEST */
    uint32_t best;
    /* most frequent target pieces, which are in every list; 0: DG_SHORTLIST_FREQUENT */
    uint32_t frequent;
    /* leave the manifest as it is: the caller adds the file to it */
    bool file_only;
    /* non-zero: DG_ECANCELED; NULL never */
    const volatile int *stop;
};

struct dg_made_shortlist {
    uint64_t pairs;
    /* translations of a source piece, on average */
    double mean_best;
    uint32_t frequent;
    /* mean length of a sentence's list; share of target pieces that are in their sentence's list */
    double mean_rows, coverage;
};

/* Write BUNDLE/shortlist.dgl and, unless file_only, seal the bundle again, which changes its
 * version. */
int dg_shortlist_make(
    const struct dg_make_shortlist *o, struct dg_made_shortlist *out, struct dg_error *err);

#endif
