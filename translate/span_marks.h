/* Protected spans of a sentence that belong together. One thread at a time per part. Private to
 * translate/. */
#ifndef DG_TRANSLATE_SPAN_MARKS_H
#define DG_TRANSLATE_SPAN_MARKS_H

#include <stdbool.h>
#include <stddef.h>

struct dg_job;
struct dg_part;

/* True if a letter or a digit begins at byte `at` of p's text (before: ends there). */
bool dg_part_touches_word(const struct dg_part *p, size_t at, bool before);

/* Remove the marks of quantities (text/protected/quantity.h), except amounts whose signs the model
 * does not know: where it sees their letters, it writes them as its language does. */
void dg_span_marks_leave_amounts(const struct dg_job *j, struct dg_part *p);

/* Remove the marks of large numbers that the target's notation cannot be found for. */
void dg_span_marks_leave_numbers(const struct dg_job *j, struct dg_part *p);

/* Make spans that touch each other, or that a sign joins, one mark. */
void dg_span_marks_join(struct dg_part *p);

/* Make placeholders that touch the words between them, such as those of "Read {0}the terms{1}.", a
 * pair like two tags: marks of kind OPEN and CLOSE. Their letters are still in the text. */
void dg_span_marks_pair(struct dg_part *p);

#endif
