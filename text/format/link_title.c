#include "text/format/link_title.h"

#include "text/format/escape.h"
#include "text/format/link.h"

#include <ctype.h>
#include <string.h>

void dg_link_title(struct dg_document *d, const char *s, size_t begin, size_t end)
{
    const enum dg_encoding encoding = s[begin - 1] == '"'    ? DG_ENCODING_ESCAPED_DOUBLE
                                      : s[begin - 1] == '\'' ? DG_ENCODING_ESCAPED_SINGLE
                                                             : DG_ENCODING_ESCAPED_BRACKETS;
    size_t text = begin = dg_link_skip_space(s, begin, end);
    dg_document_begin(d, begin);
    for (size_t at = begin; at < end;) {
        bool escape = s[at] == '\\' && at + 1 < end && ispunct((unsigned char)s[at + 1]);
        size_t entity = s[at] == '&' ? dg_escape_entity_end(s, at, end) : at;
        size_t space = strchr("\r\n", s[at]) ? dg_link_skip_space(s, at, end) : at;
        struct dg_mark m = {.begin = at, .end = escape ? at + 2 : space, .len = 1};
        if (!escape && entity == at && space == at) {
            at++;
            continue;
        }
        dg_document_text(d, s, text, at);
        m.kind = escape ? DG_MARK_ESCAPE : DG_MARK_BREAK;
        if (entity > at)
            dg_escape_entity(d, s, at, entity);
        else
            dg_document_mark(d, m, escape ? s + at + 1 : " ");
        text = at = entity > at ? entity : m.end;
    }
    dg_document_text(d, s, text, end);
    dg_document_end_value(d, s, encoding);
}
