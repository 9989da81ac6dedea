#include "documents/office/languages.h"

#include "documents/declared_language.h"

/* Adds the attribute of a tag, over which `is` is written. *found: it names another language than
 * the target; if it does not, it stays. */
static int add(struct dg_runs *r, const struct dg_xml_tag *t, const char *attribute, const char *is,
    bool *found, struct dg_error *err)
{
    size_t begin, end;
    *found = dg_xml_attribute(&r->xml, t, attribute, &begin, &end) &&
             dg_declared_language_differs(r->xml.s + begin, end - begin, r->x->target);
    return *found ? dg_declared_language_write(r->x, r->p, begin, end, is, err) : DG_OK;
}

/* Adds the attribute of all tags of this name. */
static int read_all(struct dg_extract *x, struct dg_extract_part *p, const char *name,
    const char *attribute, struct dg_error *err)
{
    struct dg_runs r = {.x = x, .p = p};
    bool found;
    int rc = dg_xml_scan(p->s, p->n, &r.xml, err);
    for (size_t i = 0; i < r.xml.n_tags && rc == DG_OK; i++)
        if (r.xml.tags[i].kind != DG_XML_CLOSE && dg_xml_is(&r.xml, &r.xml.tags[i], name))
            rc = add(&r, &r.xml.tags[i], attribute, x->locale, &found, err);
    dg_xml_close(&r.xml);
    return rc;
}

int dg_languages_read_styles(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    static const char *const attributes[] = {"w:val", "w:eastAsia", "w:bidi"};
    return read_all(x, p, "w:lang", attributes[x->scripts], err);
}

int dg_languages_read_presentation(
    struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return read_all(x, p, "a:defRPr", "lang", err);
}

int dg_languages_add(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    static const char *const attributes[][2] = {{"fo:language", "fo:country"},
        {"style:language-asian", "style:country-asian"},
        {"style:language-complex", "style:country-complex"}};
    const char *const *names = attributes[r->x->scripts];
    size_t begin, end;
    bool found;
    if (!r->x->region.region[0])
        return DG_OK;
    int rc = add(r, t, names[0], r->x->region.language, &found, err);
    if (rc == DG_OK && found && dg_xml_attribute(&r->xml, t, names[1], &begin, &end))
        rc = dg_declared_language_write(r->x, r->p, begin, end, r->x->region.region, err);
    return rc;
}
