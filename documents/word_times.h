/* Lines of subtitles whose words appear one after another, as in YouTube's automatic captions:
 *
 *   the<00:00:02.240><c> show</c><00:00:02.560><c> about</c>
 *
 * Their text is read without the times, which the answer gets in their order, by proportion: times
 * that moved with their words would be out of order. One thread at a time. Only for documents/. */
#ifndef DG_DOCUMENTS_WORD_TIMES_H
#define DG_DOCUMENTS_WORD_TIMES_H

#include "documents/segments.h"

/* True if s[begin, end) has such times and no other tags than <c>. */
bool dg_word_times_are(const char *s, size_t begin, size_t end);

/* Add the lines of a cue with such times, p->s[begin, end), each as a text. DG_ELIMIT, DG_ENOMEM.
 */
int dg_word_times_read(struct dg_extract *x, struct dg_extract_part *p, size_t begin, size_t end,
    struct dg_error *err);

/* Write the answer to a line. DG_ENOMEM, DG_EINTERNAL. */
int dg_word_times_write(struct dg_writer *w, const struct dg_segment *g,
    const struct dg_extract_answer *a, struct dg_error *err);

#endif
