/* What the readers of office files share. Only for documents/office. One thread at a time. */
#ifndef DG_DOCUMENTS_OFFICE_OFFICE_H
#define DG_DOCUMENTS_OFFICE_OFFICE_H

#include "documents/kinds.h"
#include "documents/office/runs.h"

/* The text of cells and slides: a line end and a tab end a sentence. */
extern const struct dg_markup dg_office_lines;

/* The text of slides and drawings. */
extern const struct dg_run_names dg_office_slide;

/* Scan the part's XML and find the prefix of `names` (or NULL) in it; r->xml must be closed in any
 * case. DG_EINVAL, DG_ENOMEM. */
int dg_office_open(struct dg_runs *r, struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_run_names *names, struct dg_error *err);
/* Reads tag t of r->xml, which is not a closing tag. */
typedef int dg_office_visit(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err);
/* Read the part: add its paragraphs by `names` (or NULL), then call `visit` (or NULL) for each tag
 * that is not a closing tag. DG_EINVAL, DG_ELIMIT, DG_ENOMEM. */
int dg_office_read(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_run_names *names, dg_office_visit *visit, struct dg_error *err);

/* Add the words of the element at tag t, which has no runs, if it is an opening one. DG_ELIMIT,
 * DG_ENOMEM. */
int dg_office_add_words(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err);
/* The same for the value of an attribute of the tag, if it has this one: a text as the words of a
 * cell are. */
int dg_office_add_value(
    struct dg_runs *r, const struct dg_xml_tag *t, const char *attribute, struct dg_error *err);

/* Keep the texts that are between quotation marks in s[n], a formula or a condition: it compares
 * cells with them. Those that "&" joins to others are only shown, so they are left out. */
void dg_office_keep_quoted(struct dg_extract *x, const char *s, size_t n);

/* True if the name is `begin`, then anything without "/", then ".xml": "word/header3.xml" for
 * "word/header". Microsoft's Open XML SDK gives the first part no number, and its older versions
 * count on in base 16; names of parts differ by more than letter case. */
bool dg_office_is_numbered(const char *name, const char *begin);
/* The same with nothing but such a number, or no number: not "word/commentsExtended.xml". */
bool dg_office_is_counted(const char *name, const char *begin);

/* Read a part with the text of drawings, as slides are (kinds.h). */
int dg_office_read_slide(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err);

/* The reader of a member with words in a chart or a diagram, if it is in the folder ("word/",
 * "ppt/" or "xl/"); NULL: it is none. */
dg_part_reader *dg_office_find_drawing(const char *folder, const char *name);

#endif
