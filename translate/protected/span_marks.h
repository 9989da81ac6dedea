/* Marks of protected spans: which stay, and which belong together. One thread at a time. Private to
 * translate/. */
#ifndef DG_TRANSLATE_PROTECTED_SPAN_MARKS_H
#define DG_TRANSLATE_PROTECTED_SPAN_MARKS_H

#include "text/protected/alphabet.h"
#include "translate/protected/shown.h"

/* Remove the marks of large numbers and of words that cannot be written in language `to`; with an
 * alphabet, all marks of quantities (text/protected/quantity.h) but amounts whose signs are not in
 * it: where the model sees their letters, it writes them as its language does. */
void dg_span_marks_leave(
    const char *from, const char *to, const struct dg_alphabet *known, struct dg_shown *shown);

/* Make spans that touch each other, or that a sign joins, one mark. */
void dg_span_marks_join(struct dg_shown *shown);

/* Make placeholders that touch the words between them, such as those of "Read {0}the terms{1}.", a
 * pair like two tags: marks of kind OPEN and CLOSE. Their letters are still in the text. */
void dg_span_marks_pair(struct dg_shown *shown);

#endif
