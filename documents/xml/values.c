/* Strings of programs that are whole elements of XML: .NET's resources (.resx) and Apple's plurals
 * (.stringsdict). */
#include "documents/kinds.h"
#include "documents/strings/program_string.h"
#include "documents/xml/declaration.h"
#include "documents/xml/string.h"
#include "text/format/xml/scan.h"
#include "text/scan.h"

#include <string.h>

static const struct dg_markup net = {.program = true, .key_signs = "&"}, apple = {.program = true};

struct reader {
    struct dg_extract *x;
    struct dg_extract_part *p;
    struct dg_xml xml;
    const struct dg_markup *markup;
    /* content of the last <key> of a .stringsdict */
    size_t key, key_end;
};

/* Returns true if the element that begins with tag t is translated. */
typedef bool picks(struct reader *r, const struct dg_xml_tag *t);

/* Adds the text of an element that has no tags. */
static int add(struct reader *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    size_t begin = t->end, end = r->xml.tags[t->partner].begin;
    const bool cdata = dg_xml_string_cdata(r->p->s, &begin, &end);
    const struct dg_segment like = {.begin = begin,
        .end = end,
        .markup = r->markup,
        .writing = DG_WRITE_ESCAPED,
        .escapes = cdata ? DG_ESCAPES_CDATA : DG_ESCAPES_XML};
    struct dg_buffer text = {0};
    int rc = DG_OK;
    if (cdata)
        dg_buffer_add(&text, r->p->s + begin, end - begin);
    if (cdata || dg_xml_string_read(r->p->s + begin, end - begin, true, &text) || text.failed)
        rc = dg_program_string_add(r->x, r->p, like, &text, NULL, err);
    dg_buffer_deinit(&text);
    return rc;
}

static int read_values(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_markup *markup, picks *pick, struct dg_error *err)
{
    struct reader r = {.x = x, .p = p, .markup = markup};
    int rc = dg_xml_scan(p->s, p->n, &r.xml, err);
    for (size_t i = 0; i < r.xml.n_tags && rc == DG_OK; i++)
        if (r.xml.tags[i].kind == DG_XML_OPEN && pick(&r, &r.xml.tags[i]))
            rc = add(&r, &r.xml.tags[i], err);
    if (rc == DG_OK)
        rc = dg_declaration_of_xml(x, p, err);
    dg_xml_close(&r.xml);
    return rc;
}

/* True if the tag's attribute begins with these bytes. */
static bool attribute_begins(
    const struct dg_xml *x, const struct dg_xml_tag *t, const char *name, const char *with)
{
    size_t begin, end;
    return dg_xml_attribute(x, t, name, &begin, &end) && dg_scan_begins(x->s, begin, end, with);
}

/* <data name="..."><value>text</value></data>. One with a type is a number, a picture, a file; and
 * names such as ">>label.Name" are the designer's. */
static bool is_net_string(struct reader *r, const struct dg_xml_tag *t)
{
    const struct dg_xml *x = &r->xml;
    const struct dg_xml_tag *data = dg_xml_is(x, t, "value") ? dg_xml_parent(x, t) : NULL;
    size_t begin, end;
    return data && data + 1 == t && dg_xml_is(x, data, "data") &&
           !dg_xml_attribute(x, data, "mimetype", &begin, &end) &&
           (!dg_xml_attribute(x, data, "type", &begin, &end) ||
               attribute_begins(x, data, "type", "System.String")) &&
           !attribute_begins(x, data, "name", ">>") &&
           !attribute_begins(x, data, "name", "&gt;&gt;");
}

int dg_read_resx(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return read_values(x, p, &net, is_net_string, err);
}

static bool key_is(const struct reader *r, const char *name)
{
    return r->key_end - r->key == strlen(name) &&
           memcmp(r->xml.s + r->key, name, strlen(name)) == 0;
}

/* <key>other</key><string>%d dogs</string>: any string that does not say how a number is written.
 */
static bool is_plural_form(struct reader *r, const struct dg_xml_tag *t)
{
    if (dg_xml_is(&r->xml, t, "key")) {
        r->key = t->end;
        r->key_end = r->xml.tags[t->partner].begin;
    }
    return dg_xml_is(&r->xml, t, "string") && !key_is(r, "NSStringFormatSpecTypeKey") &&
           !key_is(r, "NSStringFormatValueTypeKey");
}

int dg_read_stringsdict(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return read_values(x, p, &apple, is_plural_form, err);
}
