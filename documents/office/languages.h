/* The languages that office files name for words: in styles, and in the defaults of slides. Those
 * of a paragraph's runs: slots.c. Only for documents/office. One thread at a time. */
#ifndef DG_DOCUMENTS_OFFICE_LANGUAGES_H
#define DG_DOCUMENTS_OFFICE_LANGUAGES_H

#include "documents/office/runs.h"

/* Read Word's styles, or a presentation. */
int dg_languages_read_styles(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err);
int dg_languages_read_presentation(
    struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err);

/* Add the language of an OpenDocument style's tag. DG_ENOMEM. */
int dg_languages_add(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err);

#endif
