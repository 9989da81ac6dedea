#include "documents/xml/target.h"

#include "text/scan.h"

bool dg_xml_target_room(
    const struct dg_xml *x, const struct dg_xml_tag *t, size_t *begin, size_t *end)
{
    const bool open = t->kind == DG_XML_OPEN;
    *begin = open ? t->end : t->begin;
    *end = open ? x->tags[t->partner].begin : t->end;
    return !open || dg_scan_skip_ascii_space(x->s, *begin, *end) == *end;
}

int dg_xml_target_enclose(const struct dg_xml *x, const struct dg_xml_tag *t, const char *open,
    const char *close, struct dg_segment *g, struct dg_error *err)
{
    const bool empty = t->kind == DG_XML_EMPTY;
    struct dg_buffer before = {0}, after = {0};
    if (empty)
        dg_buffer_addf(&before, "%.*s>", (int)(t->end - 2 - t->begin), x->s + t->begin);
    dg_buffer_adds(&before, open);
    dg_buffer_adds(&after, close);
    if (empty)
        dg_buffer_addf(&after, "</%.*s>", (int)(t->name_end - t->name), x->s + t->name);
    g->before = dg_buffer_take(&before, NULL);
    g->after = dg_buffer_take(&after, NULL);
    return g->before && g->after ? DG_OK
                                 : dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
}
