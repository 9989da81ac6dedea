/* Tags that stand for a line end: to a reader of the text they are white space. */
#include "text/format/internal.h"
#include "text/scan.h"

#include <string.h>
#include <strings.h>

static bool is_line_end(const char *s, size_t at, size_t end)
{
    return end - at > 3 && strncasecmp(s + at, "<br", 3) == 0 && strchr(" \t\r\n/>", s[at + 3]);
}

size_t dg_line_skip_tags(struct dg_document *d, const char *s, size_t at, size_t end)
{
    size_t to = at;
    for (size_t i = at; i < end && is_line_end(s, i, end); i = dg_line_skip_blanks(s, to, end)) {
        const size_t next = dg_tag_end(d, s, i, end);
        if (next == i)
            break;
        to = next;
    }
    return to;
}

/* True if white space follows s[at], or is before it in the unit's text. */
static bool is_apart(const struct dg_document *d, const char *s, size_t at, size_t end)
{
    const size_t begin = d->units[d->n_units].at;
    size_t last = d->text.len;
    return last == begin || dg_scan_is_space(dg_scan_prev(d->text.data, begin, &last)) ||
           at >= end || dg_scan_is_space(dg_scan_peek(s, at, end));
}

void dg_document_line_end(struct dg_document *d, const char *s, size_t begin, size_t to, size_t end)
{
    if (d->text.failed)
        return;
    const bool apart = is_apart(d, s, to, end);
    dg_document_mark(d,
        (struct dg_mark){.kind = apart ? DG_MARK_POINT : DG_MARK_BREAK,
            .len = !apart,
            .begin = begin,
            .end = to},
        " ");
}
