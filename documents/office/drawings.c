/* Charts and diagrams of Office files, and what is written on them. */
#include "documents/office/office.h"

#include <string.h>
#include <strings.h>

/* True if the element at tag i is a value of the list: <list><c:pt><c:v>. */
static bool is_in_list(const struct dg_xml *x, size_t i, const char *list)
{
    const struct dg_xml_tag *point = dg_xml_parent(x, &x->tags[i]);
    const struct dg_xml_tag *in =
        point && dg_xml_is(x, point, "c:pt") ? dg_xml_parent(x, point) : NULL;
    return in && dg_xml_is(x, in, list) && dg_xml_is(x, &x->tags[i], "c:v");
}

/* True if the element at tag i is words that are written in the chart. */
static bool is_written(const struct dg_xml *x, size_t i)
{
    const struct dg_xml_tag *in = dg_xml_parent(x, &x->tags[i]);
    return (in && dg_xml_is(x, in, "c:tx") && dg_xml_is(x, &x->tags[i], "c:v")) ||
           is_in_list(x, i, "c:strLit");
}

/* The same, or a copy of a cell's words. */
static bool is_label(const struct dg_xml *x, size_t i)
{
    return is_written(x, i) || is_in_list(x, i, "c:strCache") || is_in_list(x, i, "c:lvl");
}

static int add_label(struct dg_runs *r, size_t i, struct dg_error *err)
{
    return is_label(&r->xml, i) ? dg_office_add_words(r, i, err) : DG_OK;
}

static int add_written(struct dg_runs *r, size_t i, struct dg_error *err)
{
    return is_written(&r->xml, i) ? dg_office_add_words(r, i, err) : DG_OK;
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
