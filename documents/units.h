/* The units of a page as texts (text/format/document.h). Only for documents/. One thread at a time.
 */
#ifndef DG_DOCUMENTS_UNITS_H
#define DG_DOCUMENTS_UNITS_H

#include "documents/segments.h"

/* Add each unit of the part, read in a format with `markup` (or NULL), as a text in the format
 * `as`. Units within another, such as an image's title within a sentence, are part of its text.
 * DG_EINVAL, DG_ELIMIT, DG_ENOMEM. */
int dg_units_add(struct dg_extract *x, struct dg_extract_part *p, enum dg_format format,
    const struct dg_markup *markup, enum dg_format as, struct dg_error *err);

#endif
