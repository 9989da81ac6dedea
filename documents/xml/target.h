/* The empty element of a file of both languages that a translation is written into:
 * <target state="new"/>, <translation type="unfinished"></translation>. Any thread. Only for
 * documents/. */
#ifndef DG_DOCUMENTS_XML_TARGET_H
#define DG_DOCUMENTS_XML_TARGET_H

#include "documents/segments.h"
#include "text/format/xml/scan.h"

/* Finds the bytes that an answer replaces; false: the element has text or tags. */
bool dg_xml_target_room(
    const struct dg_xml *x, const struct dg_xml_tag *t, size_t *begin, size_t *end);

/* Sets what is written around the answer to g: the tags of an element that has only one, such as
 * <target state="new"/>, and within them `open` and `close`. DG_ENOMEM. */
int dg_xml_target_enclose(const struct dg_xml *x, const struct dg_xml_tag *t, const char *open,
    const char *close, struct dg_segment *g, struct dg_error *err);

#endif
