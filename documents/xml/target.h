/* The empty element of a file of both languages that a translation is written into:
 * <target state="new"/>, <translation type="unfinished"></translation>. Any thread. Only for
 * documents/. */
#ifndef DG_DOCUMENTS_XML_TARGET_H
#define DG_DOCUMENTS_XML_TARGET_H

#include "base/buffer.h"
#include "text/format/xml/scan.h"

/* Finds the bytes that an answer replaces; false: the element has text or tags. */
bool dg_xml_target_room(
    const struct dg_xml *x, const struct dg_xml_tag *t, size_t *begin, size_t *end);

/* Appends what an answer needs before it and after it: the tags of an element that has only one,
 * <target state="new"/>. */
void dg_xml_target_enclose(const struct dg_xml *x, const struct dg_xml_tag *t,
    struct dg_buffer *before, struct dg_buffer *after);

#endif
