/* Compares the labelled brackets of parsed trees with gold ones, as EVALB does with COLLINS.prm:
 * commas, colons, quotes and full stops (by the gold tree's tags) are left out of the spans, ADVP
 * and PRT are the same label, and a label that occurs n times around the same words counts n times.
 * Plain data; one thread at a time. */
#ifndef DG_TEXT_TREE_EVALB_H
#define DG_TEXT_TREE_EVALB_H

#include "text/tree/tree.h"

struct dg_evalb {
    /* brackets of all sentences */
    uint64_t matched, gold, parsed;
    /* exact: sentences in which all brackets match and there are no others */
    uint64_t sentences, exact;
};

/* Count a sentence. DG_EINVAL: the trees are not over the same words, and nothing is counted;
 * DG_ENOMEM. */
int dg_evalb_add(struct dg_evalb *e, const struct dg_tree *gold, const struct dg_tree *parsed,
    struct dg_error *err);

/* In percent; 0 without brackets. */
double dg_evalb_recall(const struct dg_evalb *e);
double dg_evalb_precision(const struct dg_evalb *e);
double dg_evalb_f1(const struct dg_evalb *e);

#endif
