/* Answers of a second hop, said of the text that the first one read: spans, flags, scores,
 * alignments, counts. Pure; any thread. */
#ifndef DG_SERVER_REQUEST_PIVOT_ANSWERS_H
#define DG_SERVER_REQUEST_PIVOT_ANSWERS_H

#include "base/arena.h"
#include "translate/translate.h"

#include <stdbool.h>

/* A sentence of the second hop, which speaks of the first one's answer, is to speak of the text
 * that was asked about. */
void dg_pivot_answers_sentence(const struct dg_answers *first, struct dg_answer_sentence *s);

/* first: the first hop's answers, whose text the second hop read. What a points to afterwards lives
 * in the arena, but for its texts. */
int dg_pivot_answers_map(const struct dg_answers *first, struct dg_arena *arena,
    struct dg_answers *a, struct dg_error *err);

#endif
