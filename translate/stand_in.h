/* Stand-ins for protected spans: the model sees a word that it copies well, or a reserved piece,
 * instead of letters that it would have to spell. That word marks the span's position in the
 * answer. One thread at a time per job. Private to translate/. */
#ifndef DG_TRANSLATE_STAND_IN_H
#define DG_TRANSLATE_STAND_IN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of a stand-in's name ("XX12", or a reserved piece's name) with its NUL. */
enum { DG_STAND_IN_NAME = 32, DG_MAX_STAND_INS = 16 };

/* The stand-in of one span. */
struct dg_stand_in {
    char name[DG_STAND_IN_NAME];
    /* ids of the reserved piece in each vocabulary; -1: the name is an ordinary word */
    int32_t source, target;
};

struct dg_draft;
struct dg_job;
struct dg_part;
struct dg_token;
struct dg_translator;

/* Find out which stand-ins t's vocabularies support. DG_EFORMAT (field reserved): a vocabulary
 * lacks a reserved piece, or its name is too long. */
int dg_stand_ins_open(struct dg_translator *t, struct dg_error *err);
void dg_stand_ins_close(struct dg_translator *t);

/* Replace the letters of p's protected marks in p->shown by stand-ins; marks that touch each other
 * become one, and two around words a pair (span_marks.h). A mark within a word, and one for which
 * no name is left, keeps its letters, composed; so do all marks of the sentence that a user's
 * prefix begins. */
int dg_stand_in_put(struct dg_job *j, struct dg_part *p, struct dg_error *err);

/* Find p's stand-ins that are reserved pieces in text[n], the normalised form of p->shown. Writes
 * their bytes and ids to list, which has room for DG_MAX_STAND_INS, and returns their number. */
size_t dg_stand_in_find(const struct dg_part *p, const char *text, size_t n, struct dg_token *list);

/* Text for target piece `id` in p's answer if it is a reserved one: the name of its stand-in the
 * first time, "" afterwards or if it is not one of p's. NULL: an ordinary piece. *said has a bit
 * for each stand-in that has occurred. */
const char *dg_stand_in_name_of(
    const struct dg_translator *t, const struct dg_part *p, int32_t id, uint64_t *said);

/* Keep one occurrence of each stand-in in the draft of p's answer: removes repetitions, and letters
 * attached to the stand-in. */
void dg_stand_in_clean(const struct dg_part *p, struct dg_draft *d);

#endif
