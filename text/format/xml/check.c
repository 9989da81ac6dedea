#include "text/format/xml/check.h"

#include <libxml/parser.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define CHUNK (1 << 20)

/* True if it begins like a document. Otherwise it is a part of one and gets a root around it. */
static bool is_document(const char *s, size_t n)
{
    size_t at = n >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < n && strchr(" \t\r\n", s[at]))
        at++;
    return (n - at >= 5 && memcmp(s + at, "<?xml", 5) == 0) ||
           (n - at >= 9 && memcmp(s + at, "<!DOCTYPE", 9) == 0);
}

static int why(xmlParserCtxtPtr p, struct dg_error *err)
{
    const xmlError *e = xmlCtxtGetLastError(p);
    char message[160];
    if (!e || e->code == XML_ERR_NO_MEMORY)
        return dg_error_set(err, DG_ENOMEM, "no memory to parse XML");
    snprintf(message, sizeof message, "%s", e->message ? e->message : "it cannot be parsed");
    message[strcspn(message, "\r\n")] = '\0';
    return dg_error_field(
        err, DG_EINVAL, "text", "the XML is not well-formed: line %d: %s", e->line, message);
}

int dg_xml_check(const char *s, size_t n, struct dg_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, xmlInitParser);
    xmlSAXHandler handler = {.initialized = XML_SAX2_MAGIC}; /* nothing is built */
    xmlParserCtxtPtr p = xmlCreatePushParserCtxt(&handler, NULL, NULL, 0, NULL);
    if (!p)
        return dg_error_set(err, DG_ENOMEM, "no memory to parse XML");
    xmlCtxtUseOptions(p, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    const bool part = !is_document(s, n);
    int rc = part ? xmlParseChunk(p, "<part>", 6, 0) : 0;
    for (size_t at = 0; at < n && rc == 0; at += CHUNK)
        rc = xmlParseChunk(p, s + at, (int)(n - at < CHUNK ? n - at : CHUNK), 0);
    if (rc == 0)
        xmlParseChunk(p, "</part>", part ? 7 : 0, 1);
    rc = p->wellFormed ? DG_OK : why(p, err);
    xmlFreeDoc(p->myDoc);
    xmlFreeParserCtxt(p);
    return rc;
}
