/* The vocabularies of a run, in the paper one of byte pairs for both sides (section 5.1): trained
 * on the clean pairs, or taken over from a bundle, a prepared folder or a SentencePiece model.
 * Written into the prepared folder, then opened from there. Const after open: any thread. */
#ifndef DG_TRAINER_DATA_VOCABULARY_H
#define DG_TRAINER_DATA_VOCABULARY_H

#include "base/error.h"
#include "tokenizer/tokenizer.h"
#include "trainer/data/pairs.h"
#include "trainer/recipe/recipe.h"

#include <stdint.h>

/* How brackets become pieces if the targets are trees; part of the prepared data's hash. */
#define DG_VOCABULARY_BRACKETS "whole-1"

struct dg_vocabulary {
    /* the same tokenizer twice when joint */
    struct dg_tokenizer *source, *target;
    int32_t eos, unk;
    /* [n_directions] ids put before the source; -1 none */
    int32_t *tags;
    /* ids of ⟨1⟩, ... in source and target */
    int32_t reserved[2][DG_MAX_RESERVED];
    /* id of DG_BACK_TRANSLATED_PIECE; -1: no file is back-translated */
    int32_t back_translated;
};

/* Train on the pairs that are not left out and write source.spm, source.vocab, target.spm and
 * target.vocab into dir. A vocabulary of trees has "(NP" as one piece; if it is not joint, it may
 * be smaller than the recipe's size, because there are not that many brackets. */
int dg_vocabulary_train(const struct dg_recipe *r, struct dg_pairs *pairs, int threads,
    const char *dir, struct dg_error *err);
/* The files named by recipe.init or vocabulary.from, resolved against the data folder if they are
 * relative. All NULL when the recipe trains its own. vocab paths are NULL for a bare SentencePiece
 * model, whose own order of pieces is then used. Free them, also after a failure. */
struct dg_vocabulary_files {
    /* source spm, source vocab, target spm, target vocab */
    char *paths[4];
};
int dg_vocabulary_find(
    const struct dg_recipe *r, struct dg_vocabulary_files *out, struct dg_error *err);
void dg_vocabulary_files_free(struct dg_vocabulary_files *f);
/* Copy these files from recipe.init or vocabulary.from into dir. */
int dg_vocabulary_import(const struct dg_recipe *r, const char *dir, struct dg_error *err);

/* Open the vocabularies in dir. DG_EINVAL if </s>, a tag, a reserved piece or the back-translation
 * piece of the recipe is missing, or if the sides differ where the recipe needs one for both. */
int dg_vocabulary_open(
    const struct dg_recipe *r, const char *dir, struct dg_vocabulary **out, struct dg_error *err);
void dg_vocabulary_close(struct dg_vocabulary *v); /* NULL is fine */

#endif
