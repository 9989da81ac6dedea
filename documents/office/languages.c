#include "documents/office/languages.h"

#include "documents/declared_language.h"
#include "documents/office/office.h"

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

static int visit_style(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    static const char *const attributes[] = {"w:val", "w:eastAsia", "w:bidi"};
    bool found;
    return dg_xml_is(&r->xml, t, "w:lang")
               ? add(r, t, attributes[r->x->scripts], r->x->locale, &found, err)
               : DG_OK;
}

static int visit_presentation(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    bool found;
    return dg_xml_is(&r->xml, t, "a:defRPr") ? add(r, t, "lang", r->x->locale, &found, err) : DG_OK;
}

int dg_languages_read_styles(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return dg_office_read(x, p, NULL, visit_style, err);
}

int dg_languages_read_presentation(
    struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return dg_office_read(x, p, NULL, visit_presentation, err);
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
