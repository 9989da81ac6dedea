/* The encoding that an XML, HTML or PO file declares, and the language of HTML. One thread at a
 * time. Only for documents/. */
#ifndef DG_DOCUMENTS_XML_DECLARATION_H
#define DG_DOCUMENTS_XML_DECLARATION_H

#include "documents/segments.h"

/* Add a segment that makes the declaration true if anything else in the file changes: translations
 * are written in UTF-8, or in UTF-16 where the file is. DG_ENOMEM. */
int dg_declaration_of_xml(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err);
/* The same for HTML's first <meta> that declares an encoding, and for the language of <html>. In
 * UTF-16 the mark at the start counts more than <meta>. */
int dg_declaration_of_html(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err);
/* The same for the type p->s[begin, end), such as "text/plain; charset=latin1". */
int dg_declaration_of_type(struct dg_extract *x, struct dg_extract_part *p, size_t begin,
    size_t end, struct dg_error *err);

#endif
