/* `dragoman-train shortlist`: a bundle's vocabulary shortlist (weights/shortlist.h) from the pairs
 * of a prepared folder with the same vocabularies. One thread, main's. */
#ifndef DG_TRAINER_ALIGN_SHORTLIST_H
#define DG_TRAINER_ALIGN_SHORTLIST_H

#include "base/error.h"

#include <stdint.h>

struct dg_make_shortlist {
    const char *bundle, *prepared_dir;
    /* at most so many; 0: a million */
    uint64_t pairs;
    /* translations of a source piece; 0: 50 */
    uint32_t best;
    /* target pieces that always may come; 0: 200 */
    uint32_t frequent;
};

struct dg_made_shortlist {
    uint64_t pairs;
    /* translations of a source piece, on average */
    double mean_best;
    uint32_t frequent;
    /* over the pairs: length of a sentence's list; share of target pieces that are in it */
    double mean_rows, coverage;
};

/* Write BUNDLE/shortlist.dgl and seal the bundle again, which changes its version. */
int dg_shortlist_make(
    const struct dg_make_shortlist *o, struct dg_made_shortlist *out, struct dg_error *err);

#endif
