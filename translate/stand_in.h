/* Stand-ins for protected spans: the model sees a word that it copies well, or a reserved piece,
 * instead of letters that it would have to spell. That word marks the span's position in the
 * answer. One thread at a time per job. Private to translate/. */
#ifndef DG_TRANSLATE_STAND_IN_H
#define DG_TRANSLATE_STAND_IN_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of a stand-in's name: "XX12", or a reserved piece's name. */
enum { DG_STAND_IN_NAME = 32, DG_MAX_STAND_INS = 16 };

/* One span's word. */
struct dg_stand_in {
    char name[DG_STAND_IN_NAME];
    /* reserved pieces; -1: the name is an ordinary word */
    int32_t source, target;
};

struct dg_job;
struct dg_part;
struct dg_token;
struct dg_translator;

/* What t's vocabularies have for it. DG_EFORMAT (field reserved): a piece that one lacks. */
int dg_stand_ins_open(struct dg_translator *t, struct dg_error *err);
void dg_stand_ins_close(struct dg_translator *t);

/* Put stand-ins for the letters of p's protected marks into p->shown; marks that touch each other
 * become one. A mark within a word, and those that no name is left for, keep their letters. */
int dg_stand_in_put(struct dg_job *j, struct dg_part *p, struct dg_error *err);

/* Those of p's stand-ins that are reserved pieces: their bytes in text[n], which p was normalised
 * to, and their ids. list has room for DG_MAX_STAND_INS. Returns how many there are. */
size_t dg_stand_in_find(const struct dg_part *p, const char *text, size_t n, struct dg_token *list);

/* Text of target piece `id` in p's answer if it is a reserved one: the name of its stand-in the
 * first time (*said has a bit for each), then ""; NULL: it is an ordinary piece. */
const char *dg_stand_in_name_of(
    const struct dg_translator *t, const struct dg_part *p, int32_t id, uint64_t *said);

/* Keep one occurrence of each stand-in in text from byte `from` on; repetitions are removed, and so
 * are letters attached to one. ends[n] move along. */
void dg_stand_in_clean(
    const struct dg_part *p, struct dg_buffer *text, size_t from, size_t *ends, size_t n);

#endif
