/* The kinds of files: a row each of suffix, media type and reader. Only for documents/. Const: any
 * thread. */
#ifndef DG_DOCUMENTS_KINDS_H
#define DG_DOCUMENTS_KINDS_H

#include "documents/segments.h"

/* Add the segments of a part. DG_EINVAL, DG_ELIMIT (field file), DG_ENOMEM. An error of another
 * field, or of none, is about the part's text: the caller names the file or the member. */
typedef int dg_part_reader(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err);

struct dg_kind {
    const char *suffix, *media_type;
    /* reads the file itself, as UTF-8; NULL: the file is packed */
    dg_part_reader *read;
    /* Packed files: returns the reader of a member; NULL: the member has no texts. */
    dg_part_reader *(*member)(const char *name);
};

/* The kind of a file by its name's suffix; NULL: unknown. */
const struct dg_kind *dg_kind_find(const char *name);

dg_part_reader dg_read_text, dg_read_html, dg_read_markdown, dg_read_subtitles, dg_read_events,
    dg_read_table;
dg_part_reader dg_read_po, dg_read_json, dg_read_properties, dg_read_strings, dg_read_yaml,
    dg_read_catalog, dg_read_php;
dg_part_reader dg_read_xliff, dg_read_linguist, dg_read_android, dg_read_resx, dg_read_stringsdict;
dg_part_reader *dg_member_docx(const char *name), *dg_member_pptx(const char *name);
dg_part_reader *dg_member_xlsx(const char *name), *dg_member_odt(const char *name);
dg_part_reader *dg_member_epub(const char *name);

/* Read the members of a packed file that have texts, a part each. */
int dg_package_read(struct dg_extract *x, struct dg_error *err);
/* Append the packed file with its changed parts. changed[n_parts]: a part's new bytes; data NULL:
 * unchanged. */
int dg_package_write(const struct dg_extract *x, const struct dg_buffer *changed,
    struct dg_buffer *out, struct dg_error *err);

#endif
