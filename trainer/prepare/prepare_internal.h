/* Internals of prepare's passes; no other file includes it. One thread at a time, unless stated
 * otherwise. */
#ifndef DG_TRAINER_PREPARE_PREPARE_INTERNAL_H
#define DG_TRAINER_PREPARE_PREPARE_INTERNAL_H

#include "base/pool.h"
#include "trainer/data/clean.h"
#include "trainer/data/corpus.h"
#include "trainer/data/dedup.h"
#include "trainer/data/near_copies.h"
#include "trainer/data/pairs.h"
#include "trainer/prepare/prepare.h"
#include "trainer/data/prepared.h"
#include "trainer/progress.h"
#include "trainer/data/vocabulary.h"
#include "trainer/align/dictionary.h"
#include "trainer/align/names.h"

#define DG_MAX_DOMAINS 65535

/* The first pair of lines that was dropped for a reason. */
struct dg_prepare_example {
    /* line number from 1; 0: none was dropped */
    uint64_t line;
    char text[2][80];
};

struct dg_prepare_count {
    uint64_t read;
    /* pairs of by[DG_DROP_LANGUAGE] with each side in the other's language */
    uint64_t swapped;
    /* lines of source and target for which dg_prepare_has_columns is true */
    uint64_t columns[2];
    struct dg_prepare_example examples[DG_N_DROPS];
    /* pairs by reason; by[DG_KEEP]: kept pairs */
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
    /* [data.n_pairs]; NULL: not wanted */
    struct dg_dictionary **dictionaries;
    /* [data.n_names] */
    struct dg_names **names;
    struct dg_vocabulary *vocabulary;
    /* [n_domains] labels in the order of their first appearance */
    char **domains;
    size_t n_domains;
    /* [n_files] one per training file, over all pairs of the recipe */
    struct dg_prepare_count *counts;
    size_t n_files;
    /* [dg_characters_count()] occurrences in the kept pairs */
    uint64_t *characters;
    /* for the manifest */
    struct dg_json *sets;
};

/* DG_ECANCELED if it is time to stop. */
int dg_prepare_check(const struct dg_prepare_job *j, struct dg_error *err);

/* Find the label's number in j->domains; a new label is added. */
int dg_prepare_domain(
    struct dg_prepare_job *j, const char *label, size_t n, uint32_t *out, struct dg_error *err);

/* Pass 1: check lines and languages of dev and test files, and read held-out lines into j->held_out
 * and j->near (prepare_held_out.c); clean training files into j->pairs and leave duplicates
 * out (prepare_clean.c). */
int dg_prepare_held_out(struct dg_prepare_job *j, struct dg_error *err);
int dg_prepare_clean(struct dg_prepare_job *j, struct dg_error *err);
/* What j->held_out has of a clean line. */
static inline struct dg_hash128 dg_prepare_line_hash(const char *s, size_t n)
{
    return dg_hash128(s, n, 0);
}
/* True if each side, clean, seems to be in the language of the other. Called when one is surely not
 * in its own. */
bool dg_prepare_is_swapped(
    const struct dg_recipe_pair *pair, const char *s, size_t s_len, const char *t, size_t t_len);
/* Tell whether either side, already clean, is a line that must not be trained on, or nearly one:
 * DG_KEEP, DG_DROP_OVERLAP or DG_DROP_NEAR_COPY. Any thread after dg_prepare_held_out. */
enum dg_drop dg_prepare_held_out_as(
    const struct dg_prepare_job *j, const char *s, size_t s_len, const char *t, size_t t_len);

/* prepare_faults.c. DG_EINVAL with reasons, counts and an example if so much of a training file is
 * dropped for faults that the recipe must be wrong. */
int dg_prepare_faults(const struct dg_recipe *r, const struct dg_recipe_file *f,
    const struct dg_prepare_count *c, struct dg_error *err);
/* True if the line has a tab between characters other than white space, as in a table. Any
 * thread. */
bool dg_prepare_has_columns(const char *line, size_t n);
/* DG_EINVAL if more than half of a file's lines have columns and cleaning.max_dropped is below 1:
 * cleaning would join each line's columns into one sentence. */
int dg_prepare_columns(const struct dg_recipe *r, const char *file, uint64_t columns,
    uint64_t lines, struct dg_error *err);
/* DG_EINVAL with count and example if most pairs of a dev or test file are certainly in other
 * languages. */
int dg_prepare_set_faults(const struct dg_recipe_pair *pair, const struct dg_recipe_file *f,
    const struct dg_prepare_count *c, struct dg_error *err);
/* Warn of files that lost more than cleaning.max_dropped of their pairs to the limits of tokens,
 * which may be meant. Call after dg_prepare_encode. */
void dg_prepare_warn_tokens(const struct dg_prepare_job *j);
/* Warn of labels of data.domain_weights that no line has: their weights have no effect. Call after
 * dg_prepare_encode. */
void dg_prepare_warn_domains(const struct dg_prepare_job *j);
/* Warn of lists of data.names that replaced no name. used [data.n_names]. */
void dg_prepare_warn_names(const struct dg_prepare_job *j, const bool *used);
/* DG_EFORMAT if this line of a dev or test file, for which dg_clean_line said `why`, is none to
 * score on. number: from 1. */
int dg_prepare_held_line(const struct dg_line *line, enum dg_drop why, const char *file,
    uint64_t number, struct dg_error *err);
/* Report that no training pair is left: DG_EINVAL with how many were read and why they were
 * dropped. */
int dg_prepare_none_left(const struct dg_prepare_job *j, struct dg_error *err);
/* Keep the pair of lines s[n], number c->read, as the example of `why`, if it is the first. */
void dg_prepare_note_example(
    struct dg_prepare_count *c, enum dg_drop why, const char *const s[2], const size_t n[2]);

/* prepare_relation.c. Check that the lines of each file translate each other; DG_EINVAL names a
 * file whose lines do not. Then leave single unrelated pairs out, if the recipe asks for it. Call
 * right after dg_prepare_dictionary. */
int dg_prepare_relation(struct dg_prepare_job *j, struct dg_error *err);

/* Pass 2, prepare_dictionary.c: learn single words from j->pairs into j->dictionaries, if the
 * recipe asks for them. */
int dg_prepare_dictionary(struct dg_prepare_job *j, struct dg_error *err);

/* Pass 3: encode j->pairs and j->dictionaries into shards (prepare_encode.c); write dev and test
 * files as texts and shards (prepare_sets.c). Both add to j->sets. */
int dg_prepare_encode(struct dg_prepare_job *j, struct dg_error *err);
int dg_prepare_sets(struct dg_prepare_job *j, const char *kind, struct dg_error *err);

/* Pass 4, prepare_links.c: align the training pairs, if the recipe guides alignment. Call right
 * after dg_prepare_encode: it adds to that pass's entry in j->sets. */
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
/* Hash of the data part and the inputs, 32 hex digits. */
int dg_prepare_hash(
    const struct dg_recipe *r, const struct dg_json *inputs, char out[33], struct dg_error *err);

#endif
