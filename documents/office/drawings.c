/* Charts and diagrams of Office files, and what is written on them. */
#include "documents/office/office.h"

#include <string.h>
#include <strings.h>

/* True if the element at tag i has a word of a chart: a name that is written in it, or a copy of a
 * cell's words. */
static bool is_label(const struct dg_xml *x, size_t i, bool copies)
{
    static const char *const lists[] = {"c:strCache", "c:lvl"};
    const struct dg_xml_tag *in = dg_xml_parent(x, &x->tags[i]), *list;
    if (!dg_xml_is(x, &x->tags[i], "c:v") || !in)
        return false;
    if (dg_xml_is(x, in, "c:tx"))
        return true;
    list = dg_xml_is(x, in, "c:pt") ? dg_xml_parent(x, in) : NULL;
    for (size_t k = 0; list && copies && k < sizeof lists / sizeof *lists; k++)
        if (dg_xml_is(x, list, lists[k]))
            return true;
    return list && dg_xml_is(x, list, "c:strLit");
}

static int add_labels(
    struct dg_extract *x, struct dg_extract_part *p, bool copies, struct dg_error *err)
{
    struct dg_runs r = {.x = x, .p = p};
    int rc = dg_office_scan(&r, err);
    for (size_t i = 0; i < r.xml.n_tags && rc == DG_OK; i++)
        if (r.xml.tags[i].kind == DG_XML_OPEN && is_label(&r.xml, i, copies))
            rc = dg_office_add_words(&r, i, err);
    dg_xml_close(&r.xml);
    return rc;
}

static int read_chart(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    int rc = dg_office_read_slide(x, p, err);
    return rc == DG_OK ? add_labels(x, p, true, err) : rc;
}

/* A chart of a sheet gets the words of cells from there. */
static int read_chart_of_cells(
    struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    int rc = dg_office_read_slide(x, p, err);
    return rc == DG_OK ? add_labels(x, p, false, err) : rc;
}

dg_part_reader *dg_office_find_drawing(const char *folder, const char *name)
{
    /* a diagram's words, and the same ones as they were drawn last; shapes on a chart */
    static const char *const drawn[] = {"diagrams/data", "diagrams/drawing", "drawings/drawing"};
    const size_t n = strlen(folder);
    if (strncasecmp(name, folder, n) != 0)
        return NULL;
    if (dg_office_is_counted(name + n, "charts/chart"))
        return strcmp(folder, "xl/") == 0 ? read_chart_of_cells : read_chart;
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
        if (dg_office_is_counted(name + n, drawn[i]))
            return dg_office_read_slide;
    return NULL;
}
