/* Charts and diagrams of Office files, and what is written on them. */
#include "documents/office/office.h"

#include <string.h>
#include <strings.h>

/* True if the element at tag t is a value of the list: <list><c:pt><c:v>. */
static bool is_in_list(const struct dg_xml *x, const struct dg_xml_tag *t, const char *list)
{
    const struct dg_xml_tag *point = dg_xml_parent(x, t);
    const struct dg_xml_tag *in =
        point && dg_xml_is(x, point, "c:pt") ? dg_xml_parent(x, point) : NULL;
    return in && dg_xml_is(x, in, list) && dg_xml_is(x, t, "c:v");
}

/* True if the element at tag t is words that are written in the chart. */
static bool is_written(const struct dg_xml *x, const struct dg_xml_tag *t)
{
    const struct dg_xml_tag *in = dg_xml_parent(x, t);
    return (in && dg_xml_is(x, in, "c:tx") && dg_xml_is(x, t, "c:v")) ||
           is_in_list(x, t, "c:strLit");
}

/* The same, or a copy of a cell's words. */
static bool is_label(const struct dg_xml *x, const struct dg_xml_tag *t)
{
    return is_written(x, t) || is_in_list(x, t, "c:strCache") || is_in_list(x, t, "c:lvl");
}

static int add_label(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    return is_label(&r->xml, t) ? dg_office_add_words(r, t, err) : DG_OK;
}

static int add_written(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    return is_written(&r->xml, t) ? dg_office_add_words(r, t, err) : DG_OK;
}

static int read_chart(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return dg_office_read(x, p, &dg_office_slide, add_label, err);
}

/* A chart of a sheet gets the words of cells from there. */
static int read_chart_of_cells(
    struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return dg_office_read(x, p, &dg_office_slide, add_written, err);
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
