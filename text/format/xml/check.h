/* Checks with libxml2 that a text is XML. Any thread. Only for text/format/xml. */
#ifndef DG_TEXT_FORMAT_XML_CHECK_H
#define DG_TEXT_FORMAT_XML_CHECK_H

#include "base/error.h"

#include <stddef.h>

/* Check a document or a part of one, UTF-8. A reference to an entity needs a declaration in a
 * document that has all of them, and none in a part; it is never expanded. DG_EINVAL (field text),
 * with the line: it is not well-formed; DG_ENOMEM. */
int dg_xml_check(const char *s, size_t n, struct dg_error *err);

#endif
