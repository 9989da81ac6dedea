/* Tables as text (.csv, .tsv): each cell with words is a text. A cell may be in quotation marks;
 * those within it are then doubled (RFC 4180). One thread at a time. Only for documents/. */
#ifndef DG_DOCUMENTS_TABLE_H
#define DG_DOCUMENTS_TABLE_H

#include "documents/segments.h"

/* Write the answer to g, in quotation marks if its text was or if it needs them. */
void dg_table_write(
    struct dg_writer *w, const struct dg_segment *g, const struct dg_extract_answer *a);

#endif
