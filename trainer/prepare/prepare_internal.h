/* Internals of prepare's passes; no other file includes it. One thread at a time, unless stated
 * otherwise. */
#ifndef DG_TRAINER_PREPARE_PREPARE_INTERNAL_H
#define DG_TRAINER_PREPARE_PREPARE_INTERNAL_H

#include "base/pool.h"
#include "trainer/data/clean.h"
#include "trainer/data/dedup.h"
#include "trainer/data/near_copies.h"
#include "trainer/data/pairs.h"
#include "trainer/prepare/prepare.h"
#include "trainer/data/prepared.h"
#include "trainer/progress.h"
#include "trainer/data/vocabulary.h"
#include "trainer/align/dictionary.h"

#define DG_MAX_DOMAINS 65535

/* The first line that was dropped for a reason. */
struct dg_prepare_example {
    /* from 1; 0: none was */
    uint64_t line;
    char text[2][80];
};

struct dg_prepare_count {
    uint64_t read;
    /* of by[DG_DROP_LANGUAGE]: each side in the other's language */
    uint64_t swapped;
    struct dg_prepare_example examples[DG_N_DROPS];
    /* by[DG_KEEP]: kept */
    uint64_t by[DG_N_DROPS];
};

struct dg_prepare_job {
    const struct dg_recipe *r;
    const struct dg_prepare_options *o;
    struct dg_pool *pool;
    struct dg_progress progress;
    struct dg_hash_set *held_out;
    /* NULL: not requested */
    struct dg_near_copies *near;
    struct dg_pairs *pairs;
    /* NULL: duplicates stay */
    struct dg_dedup *dedup;
    /* a bit an item of pairs; NULL: none was checked */
    unsigned char *unrelated;
    /* [data.n_pairs]; NULL: not wanted */
    struct dg_dictionary **dictionaries;
    struct dg_vocabulary *vocabulary;
    /* [n_domains] labels in the order they came up */
    char **domains;
    size_t n_domains;
    /* [n_files] training files, counted through all pairs */
    struct dg_prepare_count *counts;
    size_t n_files;
    /* [dg_characters_count()] in the pairs that were kept */
    uint64_t *characters;
    /* for the manifest */
    struct dg_json *sets;
};

/* Is it time to stop? DG_ECANCELED. */
int dg_prepare_check(const struct dg_prepare_job *j, struct dg_error *err);
/* dir/name into b; NULL on out of memory. */
const char *dg_prepare_path(const struct dg_prepare_job *j, struct dg_buffer *b, const char *name);

/* The label's number in j->domains; new ones are added. */
int dg_prepare_domain(
    struct dg_prepare_job *j, const char *label, size_t n, uint32_t *out, struct dg_error *err);

/* Pass 1, prepare_clean.c: held-out lines into the set; training files into j->pairs and j->dedup
 * (finished). */
int dg_prepare_held_out(struct dg_prepare_job *j, struct dg_error *err);
int dg_prepare_clean(struct dg_prepare_job *j, struct dg_error *err);
/* Is either side, clean, a line that must not be trained on, or nearly one? DG_KEEP,
 * DG_DROP_OVERLAP or DG_DROP_NEAR_COPY. Any thread after dg_prepare_held_out. */
enum dg_drop dg_prepare_held_out_as(
    const struct dg_prepare_job *j, const char *s, size_t s_len, const char *t, size_t t_len);

/* prepare_faults.c. Whether so much of a training file is dropped for faults that the recipe must
 * be wrong. DG_EINVAL with reasons, counts and an example. */
int dg_prepare_faults(const struct dg_recipe *r, const struct dg_recipe_file *f,
    const struct dg_prepare_count *c, struct dg_error *err);
/* No training pair is left: DG_EINVAL with how many were read and why each was dropped. */
int dg_prepare_none_left(const struct dg_prepare_job *j, struct dg_error *err);
/* Keep the pair of lines s[n], number c->read, as the example of `why`, if it is the first. */
void dg_prepare_note_example(
    struct dg_prepare_count *c, enum dg_drop why, const char *const s[2], const size_t n[2]);

/* prepare_relation.c. Do the lines of each file translate each other? DG_EINVAL names the file
 * whose lines do not. Then single unrelated pairs into j->unrelated, if the recipe asks for it.
 * Right after dg_prepare_dictionary. */
int dg_prepare_relation(struct dg_prepare_job *j, struct dg_error *err);

/* Why an item of j->pairs is not trained on, after the passes above: DG_KEEP, DG_DROP_DUPLICATE,
 * DG_DROP_UNRELATED. */
enum dg_drop dg_prepare_left_out(const struct dg_prepare_job *j, uint64_t item);

/* Pass 2, prepare_dictionary.c: single words from j->pairs into j->dictionaries, if the recipe asks
 * for them. */
int dg_prepare_dictionary(struct dg_prepare_job *j, struct dg_error *err);

/* Pass 3: j->pairs and j->dictionaries into shards (prepare_encode.c); dev and test files into
 * texts and shards (prepare_sets.c). Both add to j->sets. */
int dg_prepare_encode(struct dg_prepare_job *j, struct dg_error *err);
int dg_prepare_sets(struct dg_prepare_job *j, const char *kind, struct dg_error *err);

/* Pass 4, prepare_links.c: align the training pairs, if the recipe guides alignment. Right after
 * dg_prepare_encode: adds to its j->sets. */
int dg_prepare_links(struct dg_prepare_job *j, struct dg_error *err);

/* prepare_lock.c. One process at a time prepares a folder; other runs that share it wait and then
 * find it ready. The caller closes *fd, which releases the lock. */
int dg_prepare_lock(const struct dg_prepare_options *o, int *fd, struct dg_error *err);
/* Lock the folder against readers until the caller closes *fd, on failure too if it is not -1.
 * DG_EAGAIN: it is in use. */
int dg_prepare_lock_unused(const char *dir, int *fd, struct dg_error *err);

/* The prepared data's key: data, cleaning, vocabulary and init, and variants and alignments if
 * requested; prepare_inputs.c. Caller frees. */
struct dg_json *dg_prepare_data_part(const struct dg_recipe *r);
/* Every file that the recipe reads, with size and hash: [{"path","bytes","xxh3"}];
 * prepare_inputs.c. Caller frees. */
int dg_prepare_inputs(const struct dg_recipe *r, struct dg_json **out, struct dg_error *err);
/* Of the data part and the inputs, 32 hex digits. */
int dg_prepare_hash(
    const struct dg_recipe *r, const struct dg_json *inputs, char out[33], struct dg_error *err);

#endif
