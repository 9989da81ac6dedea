/* Is it XML? By libxml2. Any thread. Only for text/format/xml. */
#ifndef DG_TEXT_FORMAT_XML_CHECK_H
#define DG_TEXT_FORMAT_XML_CHECK_H

#include "base/error.h"

#include <stddef.h>

/* A document, or a part of one. DG_EINVAL (field text) with the line, DG_ENOMEM. */
int dg_xml_check(const char *s, size_t n, struct dg_error *err);

#endif
