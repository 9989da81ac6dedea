#include "text/format/xml/check.h"

#include "text/scan.h"
#include "text/utf8.h"

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define CHUNK (1 << 20)

/* What the references to a document's entities are to the parser. None is expanded: an attack with
 * entities within entities is as short as it is written. */
struct entities {
    /* any entity: one character */
    xmlEntity any;
    /* any parameter entity: one of a kind that the parser does not read */
    xmlEntity parameter;
    /* entities are declared elsewhere: in the document that a part is from */
    bool part;
};

/* The parser looks up each entity after its declaration, too, and gives one without `orig` its own
 * copy of the value, for the entity's owner to free. */
#define ORIG ((xmlChar *)"")

/* True if it begins like a document. Otherwise it is a part of one and gets a root around it. */
static bool is_document(const char *s, size_t n)
{
    for (size_t at = dg_utf8_bom(s, n);; at = dg_scan_after(s, at, n, "-->")) {
        while (at < n && strchr(" \t\r\n", s[at]))
            at++;
        if (!dg_scan_begins(s, at, n, "<!--"))
            return dg_scan_begins(s, at, n, "<?xml") || dg_scan_begins(s, at, n, "<!DOCTYPE");
    }
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

/* NULL: no such entity is declared, and all declarations are read: there is no other part of the
 * document's type, and no reference to a parameter entity, that may have more. */
static xmlEntityPtr get_entity(void *parser, const xmlChar *name)
{
    xmlParserCtxtPtr p = parser;
    struct entities *e = p->_private;
    const bool open = e->part || p->hasPErefs || (p->hasExternalSubset && p->standalone != 1);
    return open || xmlSAX2GetEntity(parser, name) ? &e->any : NULL;
}

static xmlEntityPtr get_parameter_entity(void *parser, const xmlChar *name)
{
    struct entities *e = ((xmlParserCtxtPtr)parser)->_private;
    return xmlSAX2GetParameterEntity(parser, name) ? &e->parameter : NULL;
}

/* Parses s[n], which more follows; false: it is not well-formed, or memory ended. */
static bool feed(xmlParserCtxtPtr p, const char *s, size_t n)
{
    for (size_t at = 0; at < n && p->wellFormed && !p->disableSAX; at += CHUNK)
        xmlParseChunk(p, s + at, (int)(n - at < CHUNK ? n - at : CHUNK), 0);
    return p->wellFormed && !p->disableSAX;
}

int dg_xml_check(const char *s, size_t n, struct dg_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, xmlInitParser);
    /* Nothing is built but a table of the entities that a document declares. */
    xmlSAXHandler handler = {.initialized = XML_SAX2_MAGIC,
        .startDocument = xmlSAX2StartDocument,
        .internalSubset = xmlSAX2InternalSubset,
        .entityDecl = xmlSAX2EntityDecl,
        .unparsedEntityDecl = xmlSAX2UnparsedEntityDecl,
        .getEntity = get_entity,
        .getParameterEntity = get_parameter_entity};
    xmlParserCtxtPtr p = xmlCreatePushParserCtxt(&handler, NULL, NULL, 0, NULL);
    if (!p)
        return dg_error_set(err, DG_ENOMEM, "no memory to parse XML");
    xmlCtxtUseOptions(p, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                             XML_PARSE_IGNORE_ENC); /* it is UTF-8, whatever it declares */
    const bool part = !is_document(s, n);
    struct entities entities = {.part = part,
        .any = {.type = XML_ENTITY_DECL,
            .name = (const xmlChar *)"any",
            .etype = XML_INTERNAL_PREDEFINED_ENTITY,
            .orig = ORIG,
            .content = (xmlChar *)"x",
            .length = 1},
        .parameter = {.type = XML_ENTITY_DECL,
            .name = (const xmlChar *)"any",
            .orig = ORIG,
            .etype = XML_INTERNAL_GENERAL_ENTITY}};
    p->_private = &entities;
    bool fine = feed(p, "<part>", part ? 6 : 0) && feed(p, s, n);
    if (fine) {
        xmlParseChunk(p, "</part>", part ? 7 : 0, 1);
        fine = p->wellFormed && !p->disableSAX;
    }
    int rc = fine ? DG_OK : why(p, err);
    xmlFreeDoc(p->myDoc);
    xmlFreeParserCtxt(p);
    return rc;
}
