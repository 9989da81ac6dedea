/* From text files to a prepared folder: clean, remove duplicates and overlap, train the vocabulary,
 * encode. The folder holds
 *   source.spm, target.spm,    the same twice when joint;
 *   source.vocab, target.vocab ready for a bundle
 *   train-00000.shard ...      encoded pairs (trainer/data/shard.h)
 *   train-00000.links ...      their alignments (trainer/data/link_file.h), where the recipe guides
 * it dev-0.shard, dev-0.source.txt, dev-0.target.txt ...  a set for each direction that has any
 *   test-0.shard ...           likewise
 *   prepared.json              written last: what was made, from what, with which counts
 * Memory is bounded whatever the corpus; temporary files are in the folder. A folder whose
 * prepared.json matches the recipe's data part and the inputs' hashes is left as it is. Several
 * processes may ask for one folder: one makes it, the others wait.
 * One thread at a time. */
#ifndef DG_TRAINER_PREPARE_PREPARE_H
#define DG_TRAINER_PREPARE_PREPARE_H

#include "base/error.h"
#include "trainer/recipe/recipe.h"

#include <stdbool.h>

struct dg_prepare_options {
    /* made when missing */
    const char *dir;
    /* 0: all the machine has */
    int threads;
    /* prepare again even if it matches */
    bool force;
    /* no progress on the terminal */
    bool quiet;
    /* set to non-zero by a signal handler: stops with DG_ECANCELED; NULL never */
    const volatile int *stop;
    /* the folder is held for the caller as by dg_prepared_hold; NULL: it is not */
    int *hold;
};

/* *made (may be NULL): whether anything had to be done. DG_EAGAIN: the folder would have to be
 * replaced, but others use it. */
int dg_prepare(const struct dg_recipe *r, const struct dg_prepare_options *o, bool *made,
    struct dg_error *err);

/* The folder is not replaced until *fd is closed; any number of processes may hold it. -1 if it
 * cannot be locked: a read-only folder. DG_EAGAIN: it is being made. */
int dg_prepared_hold(const char *dir, int *fd, struct dg_error *err);

#endif
