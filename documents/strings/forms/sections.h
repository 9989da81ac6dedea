/* The sections of a message: sentences without branches in a row, or one with branches. Any thread.
 * Only for documents/strings/forms/. */
#ifndef DG_DOCUMENTS_STRINGS_FORMS_SECTIONS_H
#define DG_DOCUMENTS_STRINGS_FORMS_SECTIONS_H

#include "documents/strings/forms/pattern.h"
#include "text/sentences/split.h"

/* Find the sections of the message, in order; what is between them is white space and bullets.
 * *sections: malloc'd [*n]. A message with tags or quotations, which may go from one sentence to
 * the next, is one section. DG_ENOMEM, DG_EINTERNAL. */
int dg_sections_find(
    const struct dg_pattern *p, struct dg_span **sections, size_t *n, struct dg_error *err);

#endif
