/* Maps the answers of a second hop to the text of the first: spans, flags, scores, alignments,
 * counts. Pure; any thread. */
#ifndef DG_SERVER_REQUEST_PIVOT_ANSWERS_H
#define DG_SERVER_REQUEST_PIVOT_ANSWERS_H

#include "base/arena.h"
#include "translate/translate.h"

#include <stdbool.h>

/* Map a sentence of the second hop to the text that the first hop read: its source span is a range
 * of the first hop's answer. */
void dg_pivot_answers_sentence(const struct dg_answers *first, struct dg_answer_sentence *s);

/* Map the second hop's answers a in place. first: the first hop's answers, whose text the second
 * hop read. Afterwards, a points into the arena, except for its texts. DG_ENOMEM. */
int dg_pivot_answers_map(const struct dg_answers *first, struct dg_arena *arena,
    struct dg_answers *a, struct dg_error *err);

#endif
