#include "documents/xml/target.h"

#include <string.h>

bool dg_xml_target_room(
    const struct dg_xml *x, const struct dg_xml_tag *t, size_t *begin, size_t *end)
{
    const bool open = t->kind == DG_XML_OPEN;
    *begin = open ? t->end : t->begin;
    *end = open ? x->tags[t->partner].begin : t->end;
    for (size_t i = *begin; open && i < *end; i++)
        if (!strchr(" \t\r\n", x->s[i]))
            return false;
    return true;
}

void dg_xml_target_enclose(const struct dg_xml *x, const struct dg_xml_tag *t,
    struct dg_buffer *before, struct dg_buffer *after)
{
    if (t->kind == DG_XML_OPEN)
        return;
    dg_buffer_add(before, x->s + t->begin, t->end - 2 - t->begin);
    dg_buffer_adds(before, ">");
    dg_buffer_adds(after, "</");
    dg_buffer_add(after, x->s + t->name, t->name_end - t->name);
    dg_buffer_adds(after, ">");
}
