/* From text files to a prepared folder: clean, remove duplicates and overlap, train the vocabulary,
 * encode. The folder holds
 *   source.spm, target.spm,    the same twice when joint;
 *   source.vocab, target.vocab ready for a bundle
 *   train-00000.shard ...      encoded pairs (trainer/data/shard.h)
 *   train-00000.links ...      their alignments (trainer/data/link_file.h), if the recipe guides
 *                              alignment
 *   dev-0-00000.shard ..., dev-0.source.txt, dev-0.target.txt
 *                              a dev set for each direction that has one
 *   test-0-00000.shard ...     likewise
 *   prepared.json              written last: what was made, from what, with which counts
 * Memory is bounded, whatever the size of the corpus; temporary files are in the folder. A folder
 * whose prepared.json matches the recipe's data part and the inputs' hashes is left as it is.
 * Several processes may ask for one folder: one makes it, the others wait.
 * One thread at a time. */
#ifndef DG_TRAINER_PREPARE_PREPARE_H
#define DG_TRAINER_PREPARE_PREPARE_H

#include "base/error.h"
#include "trainer/recipe/recipe.h"

#include <stdbool.h>

struct dg_prepare_options {
    /* made when missing */
    const char *dir;
    /* 0: all cores this process may use */
    int threads;
    /* prepare again even if the folder matches */
    bool force;
    /* no progress on the terminal */
    bool quiet;
    /* set to non-zero by a signal handler: stops with DG_ECANCELED; NULL never */
    const volatile int *stop;
    /* receives a descriptor that holds the folder (see dg_prepared_hold); NULL: do not hold it */
    int *hold;
};

/* Prepare the folder. *made (may be NULL): whether anything had to be done. DG_EAGAIN: the folder
 * would have to be replaced, but others use it. */
int dg_prepare(const struct dg_recipe *r, const struct dg_prepare_options *o, bool *made,
    struct dg_error *err);

/* Protect the folder from being replaced until *fd is closed; any number of processes may hold it.
 * *fd is -1 if it cannot be locked (a read-only folder). DG_EAGAIN: the folder is being made. */
int dg_prepared_hold(const char *dir, int *fd, struct dg_error *err);

#endif
