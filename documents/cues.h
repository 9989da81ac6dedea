/* Subtitles, SubRip and WebVTT. Cues over which one sentence continues form one text; its
 * translation is divided among them by how long they are shown and how much they said, cut where a
 * line may end, preferably after a comma. One thread at a time. Only for documents/. */
#ifndef DG_DOCUMENTS_CUES_H
#define DG_DOCUMENTS_CUES_H

#include "documents/segments.h"

/* Write the answer to g into its cues. DG_ENOMEM, DG_EINTERNAL. */
int dg_cues_write(struct dg_writer *w, const struct dg_segment *g,
    const struct dg_extract_answer *a, struct dg_error *err);

#endif
