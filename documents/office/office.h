/* What the readers of office files share. Only for documents/office. One thread at a time. */
#ifndef DG_DOCUMENTS_OFFICE_OFFICE_H
#define DG_DOCUMENTS_OFFICE_OFFICE_H

#include "documents/kinds.h"
#include "documents/office/runs.h"

/* The text of cells and slides: a line end and a tab end a sentence. */
extern const struct dg_markup dg_office_lines;

/* Add a segment for each paragraph. DG_ELIMIT, DG_ENOMEM. */
int dg_office_add_paragraphs(struct dg_runs *r, struct dg_error *err);

/* Add the words of the element at tag i, which has no runs. DG_ELIMIT, DG_ENOMEM. */
int dg_office_add_words(struct dg_runs *r, size_t i, struct dg_error *err);
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

/* True if the element at tag i is words without runs. */
typedef bool dg_office_pick(const struct dg_xml *x, size_t i);
/* The same, and then the elements that `pick` returns true for. */
int dg_office_read_drawing(
    struct dg_extract *x, struct dg_extract_part *p, dg_office_pick *pick, struct dg_error *err);

/* The reader of a member with words in a chart or a diagram, if it is in the folder ("word/",
 * "ppt/" or "xl/"); NULL: it is none. */
dg_part_reader *dg_office_find_drawing(const char *folder, const char *name);

#endif
