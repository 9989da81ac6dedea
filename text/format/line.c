/* Lines, and the paragraphs that they make. */
#include "base/array.h"
#include "text/format/internal.h"

#include <stdlib.h>

bool dg_line_at(const char *s, size_t n, size_t at, struct dg_line *out)
{
    if (at >= n)
        return false;
    size_t end = at;
    while (end < n && s[end] != '\n' && s[end] != '\r')
        end++;
    size_t next = end;
    if (next < n)
        next += s[next] == '\r' && next + 1 < n && s[next + 1] == '\n' ? 2 : 1;
    *out = (struct dg_line){at, end, next};
    return true;
}

size_t dg_line_skip_blanks(const char *s, size_t at, size_t end)
{
    while (at < end && (s[at] == ' ' || s[at] == '\t'))
        at++;
    return at;
}

size_t dg_line_trim_blanks(const char *s, size_t at, size_t end)
{
    while (end > at && (s[end - 1] == ' ' || s[end - 1] == '\t'))
        end--;
    return end;
}

size_t dg_line_indent(const char *s, const struct dg_line *l)
{
    return dg_line_skip_blanks(s, l->begin, l->end);
}

bool dg_line_is_blank(const char *s, const struct dg_line *l)
{
    return dg_line_indent(s, l) == l->end;
}

void dg_paragraph_add(struct dg_paragraph *p, const char *s, size_t begin, size_t end)
{
    end = dg_line_trim_blanks(s, begin, end);
    if (end == begin)
        return;
    if (!p->open)
        p->n = 0;
    p->open = true;
    void *more = dg_array_grow(p->lines, p->n, &p->cap, sizeof *p->lines);
    p->failed = p->failed || !more;
    if (!more)
        return;
    p->lines = more;
    p->lines[p->n][0] = begin;
    p->lines[p->n++][1] = end;
}

void dg_paragraph_end(
    struct dg_paragraph *p, struct dg_document *d, const char *s, dg_paragraph_write *write)
{
    if (p->open && !p->failed) {
        dg_document_begin(d, p->lines[0][0]);
        for (size_t i = 0; i < p->n; i++) {
            if (i > 0)
                dg_document_mark(d,
                    (struct dg_mark){.kind = DG_MARK_BREAK,
                        .len = 1,
                        .begin = p->lines[i - 1][1],
                        .end = p->lines[i][0]},
                    " ");
            write(d, s, p->lines[i][0], p->lines[i][1]);
        }
        dg_document_end(d, s);
    }
    p->open = false;
}

void dg_paragraph_deinit(struct dg_paragraph *p, struct dg_document *d)
{
    d->text.failed = d->text.failed || p->failed;
    free(p->lines);
}
