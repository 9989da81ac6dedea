/* Writes answers whose tags represent bytes of the file. Only for documents/. One thread at a time.
 */
#ifndef DG_DOCUMENTS_SLOTS_H
#define DG_DOCUMENTS_SLOTS_H

#include "documents/segments.h"

/* Write the answer to g. DG_EINVAL: it has a tag that its text does not, or unbalanced tags. */
int dg_slots_write(struct dg_writer *w, const struct dg_segment *g,
    const struct dg_extract_answer *a, struct dg_error *err);

#endif
