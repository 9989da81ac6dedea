/* Stand-ins for protected spans: the model sees a word that it copies well, or a reserved piece,
 * instead of letters that it would have to spell. That word marks the span's position in the
 * answer. One thread at a time per job. Private to translate/. */
#ifndef DG_TRANSLATE_PROTECTED_STAND_IN_H
#define DG_TRANSLATE_PROTECTED_STAND_IN_H

#include "base/arena.h"
#include "base/error.h"
#include "text/protected/alphabet.h"
#include "tokenizer/tokenizer.h"
#include "translate/protected/shown.h"
#include "weights/bundle.h"

#include <stdint.h>

/* Size of a stand-in's name ("XX12", or a reserved piece's name) with its NUL. */
enum { DG_STAND_IN_NAME = 32, DG_MAX_STAND_INS = 16 };

/* The stand-in of one span. */
struct dg_stand_in {
    char name[DG_STAND_IN_NAME];
    /* ids of the reserved piece in each vocabulary; -1: the name is an ordinary word */
    int32_t source, target;
};

/* The stand-ins that a bundle's vocabularies support. Const after open. */
struct dg_stand_ins {
    const struct dg_bundle *bundle;
    /* number of reserved pieces for protected spans; 0: words replace the spans if `spelt` */
    uint32_t n_reserved;
    /* [n_reserved] their ids in the source's and in the target's vocabulary */
    int32_t *reserved[2];
    bool spelt;
};

/* Find out which they are. DG_EFORMAT (field reserved): a vocabulary lacks a reserved piece, or its
 * name is too long. Close also what failed to open. */
int dg_stand_ins_open(const struct dg_bundle *bundle, const struct dg_tokenizer *const sides[2],
    struct dg_stand_ins *out, struct dg_error *err);
void dg_stand_ins_close(struct dg_stand_ins *s);

/* Replace the letters of protected marks in what the model sees by stand-ins; marks that touch each
 * other become one, and two around words a pair (span_marks.h). A mark within a word, and one for
 * which no name is left, keeps its letters, composed; so do all marks if `named` is NULL. from, to:
 * languages; known: characters that the model knows. */
int dg_stand_in_put(const struct dg_stand_ins *named, const char *from, const char *to,
    const struct dg_alphabet *known, struct dg_arena *arena, struct dg_shown *shown,
    struct dg_error *err);

/* Find the stand-ins that are reserved pieces in text[n], the normalised form of shown->text.
 * Writes their bytes and ids to list, which has room for DG_MAX_STAND_INS, and returns their
 * number. */
size_t dg_stand_in_find(
    const struct dg_shown *shown, const char *text, size_t n, struct dg_token *list);

/* Text for target piece `id` in the answer if it is a reserved one: the name of its stand-in the
 * first time, "" afterwards or if it is not one of the sentence's. NULL: an ordinary piece. *said
 * has a bit for each stand-in that has occurred. */
const char *dg_stand_in_name_of(
    const struct dg_stand_ins *t, const struct dg_shown *shown, int32_t id, uint64_t *said);

#endif
