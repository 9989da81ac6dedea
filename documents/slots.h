/* Answers whose tags represent bytes of the file, and answers for several subtitles. Only for
 * documents/. One thread at a time. */
#ifndef DG_DOCUMENTS_SLOTS_H
#define DG_DOCUMENTS_SLOTS_H

#include "documents/segments.h"

/* DG_EINVAL: the answer has a tag that its text does not. */
int dg_slots_write(struct dg_writer *w, const struct dg_segment *g,
    const struct dg_extract_answer *a, struct dg_error *err);

/* Share the answer out among the cues of g, by their times and lengths. */
void dg_slots_write_cues(
    struct dg_writer *w, const struct dg_segment *g, const struct dg_extract_answer *a);

#endif
