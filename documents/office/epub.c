/* EPUB: pages of XHTML, whose units are found as XML (where <title/> is an empty element, unlike in
 * HTML) and translated as fragments of HTML; the table of contents for old readers; and the
 * language. */
#include "documents/declared_language.h"
#include "documents/kinds.h"
#include "documents/units.h"
#include "documents/xml/declaration.h"
#include "text/format/xml/scan.h"

#include <string.h>
#include <strings.h>

static const struct dg_markup xhtml = {.html = true};

static int read_page(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    int rc = dg_units_add(x, p, DG_FORMAT_XML, &xhtml, DG_FORMAT_HTML, err);
    return rc == DG_OK ? dg_declaration_of_html(x, p, err) : rc;
}

static int read_contents(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return dg_units_add(x, p, DG_FORMAT_XML, NULL, DG_FORMAT_HTML, err);
}

/* Reads the language of a book, the first if it has several. */
static int read_package(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct dg_xml xml;
    int rc = dg_xml_scan(p->s, p->n, &xml, err);
    for (size_t i = 0; i < xml.n_tags && rc == DG_OK; i++) {
        const struct dg_xml_tag *t = &xml.tags[i];
        if (t->kind != DG_XML_OPEN || !dg_xml_is(&xml, t, "dc:language"))
            continue;
        rc = dg_declared_language_add(x, p, t->end, xml.tags[t->partner].begin, err);
        break;
    }
    dg_xml_close(&xml);
    return rc;
}

/* Reads XML if it is a page: pages of EPUB may have any name. */
static int read_if_page(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct dg_xml xml;
    struct dg_error why = {0};
    const int rc = dg_xml_scan(p->s, p->n, &xml, &why);
    const struct dg_xml_tag *root = dg_xml_root(&xml);
    const bool page = rc == DG_OK && root && dg_xml_is_local(&xml, root, "html");
    dg_xml_close(&xml);
    if (rc == DG_ENOMEM)
        return dg_error_set(err, rc, "%s", why.message);
    return page ? read_page(x, p, err) : DG_OK;
}

static bool ends(const char *name, const char *with)
{
    size_t n = strlen(name), len = strlen(with);
    return n >= len && strcasecmp(name + n - len, with) == 0;
}

dg_part_reader *dg_member_epub(const char *name)
{
    if (ends(name, ".ncx"))
        return read_contents;
    if (ends(name, ".opf"))
        return read_package;
    if (ends(name, ".xhtml") || ends(name, ".html") || ends(name, ".htm"))
        return read_page;
    return ends(name, ".xml") && strncmp(name, "META-INF/", 9) != 0 ? read_if_page : NULL;
}
