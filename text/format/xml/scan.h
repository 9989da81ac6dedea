/* XML as a list of its tags with their bytes. libxml2 checks that it is well-formed; then its tags
 * are found without regard to their meaning. Nothing is loaded and no entity is replaced. Any
 * thread. For text/format and documents/. */
#ifndef DG_TEXT_FORMAT_XML_SCAN_H
#define DG_TEXT_FORMAT_XML_SCAN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum dg_xml_kind {
    DG_XML_OPEN,
    DG_XML_CLOSE,
    DG_XML_EMPTY, /* <a/> */
    DG_XML_CDATA,
    DG_XML_OTHER, /* comments, processing instructions, the document's type */
};

struct dg_xml_tag {
    enum dg_xml_kind kind;
    /* bytes */
    size_t begin, end;
    /* the name with its prefix; equal if there is none */
    size_t name, name_end;
    /* OPEN and CLOSE: index of the partner; else its own index */
    size_t partner;
    /* index of the OPEN around it; SIZE_MAX: none */
    size_t parent;
};

struct dg_xml {
    /* [n] borrowed */
    const char *s;
    /* [n_tags] in order */
    struct dg_xml_tag *tags;
    size_t n, n_tags, cap;
};

/* Scan a document or a part of one, which may have several roots and text beside them. *out must be
 * closed in every case. DG_EINVAL (field text): not well-formed, with the line, or a tag has more
 * than 1000 attributes; DG_ENOMEM. */
int dg_xml_scan(const char *s, size_t n, struct dg_xml *out, struct dg_error *err);
void dg_xml_close(struct dg_xml *x);
/* Set *is to whether s[n] can be scanned. DG_ENOMEM. */
int dg_xml_is_well_formed(const char *s, size_t n, bool *is, struct dg_error *err);

/* The byte after the comment, instruction or CDATA section that begins at s[at], n if it does not
 * end; `at`: none begins there. */
size_t dg_xml_skip_other(const char *s, size_t at, size_t n);

/* The first tag that is an element's or CDATA; NULL: none. */
const struct dg_xml_tag *dg_xml_root(const struct dg_xml *x);
/* True if this is the tag's name. */
bool dg_xml_is(const struct dg_xml *x, const struct dg_xml_tag *t, const char *name);
/* The same, ignoring the tag's prefix. */
bool dg_xml_is_local(const struct dg_xml *x, const struct dg_xml_tag *t, const char *name);
/* The tag directly around it, or NULL. */
const struct dg_xml_tag *dg_xml_parent(const struct dg_xml *x, const struct dg_xml_tag *t);
/* The value of a tag's attribute without its quotation marks; false: it has none. */
bool dg_xml_attribute(const struct dg_xml *x, const struct dg_xml_tag *t, const char *name,
    size_t *begin, size_t *end);
/* True if the attribute has this value. */
bool dg_xml_attribute_is(
    const struct dg_xml *x, const struct dg_xml_tag *t, const char *name, const char *value);

#endif
