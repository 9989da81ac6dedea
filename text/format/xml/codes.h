/* XLIFF's inline codes: each is one mark, whatever it contains, and a pair where its end is known.
 * The model sees the value that a placeholder stands for, but no other code. Any thread. Only for
 * text/format. */
#ifndef DG_TEXT_FORMAT_XML_CODES_H
#define DG_TEXT_FORMAT_XML_CODES_H

#include "text/format/flow.h"
#include "text/format/xml/scan.h"

#define DG_XML_MAX_CODES 64

struct dg_xml_codes {
    /* [n] codes that began and did not end: their kind, what their end has in common with them, and
     * the number of their pair */
    struct dg_xml_code {
        size_t row, key, key_end;
        uint32_t id;
    } open[DG_XML_MAX_CODES];
    size_t n;
};

/* Adds the code that begins at tag *i, and moves *i to its last tag; false: it is no code. */
bool dg_xml_codes_add(struct dg_xml_codes *c, struct dg_flow *f, const struct dg_xml *x, size_t *i);

#endif
