#include "text/format/markdown_kept.h"

#include "base/array.h"
#include "text/format/internal.h"
#include "text/scan.h"

#include <string.h>

enum { KINDS = 6 };

/* What the first line begins with, and what the last one has. */
static const char *const tags[KINDS][2] = {{"{% highlight", "{% endhighlight"},
    {"{%- highlight", "{%- endhighlight"}, {"{% comment", "{% endcomment"},
    {"{{< highlight", "{{< /highlight"}, {"{{< code-toggle", "{{< /code-toggle"}, {"%%", "%%"}};

/* A pass over the lines. */
struct pass {
    const char *s;
    size_t n;
    /* [KINDS] nothing closes this kind in the rest of the text */
    bool endless[KINDS];
};

/* The kind that line l opens and does not close; KINDS: none. "%%bash" is a command. */
static size_t opened(const struct pass *p, const struct dg_line *l)
{
    const size_t at = dg_line_indent(p->s, l);
    for (size_t i = 0; i < KINDS; i++) {
        const size_t n = strlen(tags[i][0]);
        if (!dg_scan_begins(p->s, at, l->end, tags[i][0]))
            continue;
        const bool closed = dg_scan_find(p->s, at + n, l->end, tags[i][1]) < l->end;
        if (tags[i][0][0] != '%' || at + n == l->end || strchr(" \t", p->s[at + n]))
            return p->endless[i] || closed ? KINDS : i;
    }
    return KINDS;
}

/* The sign of the fence that line l is, or 0. */
static char fence_of(const struct pass *p, const struct dg_line *l)
{
    const size_t at = dg_line_indent(p->s, l);
    if (l->end - at < 3 || (p->s[at] != '`' && p->s[at] != '~'))
        return 0;
    return p->s[at + 1] == p->s[at] && p->s[at + 2] == p->s[at] ? p->s[at] : 0;
}

static bool add(struct dg_md_kept *out, struct dg_span part)
{
    struct dg_span *list = dg_array_grow(out->list, out->n, &out->cap, sizeof *list);
    if (!list)
        return false;
    out->list = list;
    out->list[out->n++] = part;
    return true;
}

/* The end of what line l opens, a part of this kind; 0: nothing closes it. */
static size_t find_close(struct pass *p, const struct dg_line *l, size_t kind)
{
    struct dg_line line = *l;
    while (dg_line_at(p->s, p->n, line.next, &line))
        if (dg_scan_find(p->s, line.begin, line.end, tags[kind][1]) < line.end)
            return line.end;
    p->endless[kind] = true;
    return 0;
}

bool dg_markdown_kept_find(const char *s, size_t n, size_t at, struct dg_md_kept *out)
{
    struct pass p = {.s = s, .n = n};
    struct dg_line l;
    char fence = 0;
    for (; dg_line_at(s, n, at, &l); at = l.next) {
        const char sign = fence_of(&p, &l);
        const size_t kind = sign || fence ? KINDS : opened(&p, &l);
        const size_t end = kind < KINDS ? find_close(&p, &l, kind) : 0;
        if (sign && (!fence || fence == sign))
            fence = fence ? 0 : sign;
        if (!end)
            continue;
        if (!add(out, (struct dg_span){dg_line_indent(s, &l), end}))
            return false;
        l.next = end;
    }
    return true;
}

size_t dg_markdown_kept_end(const struct dg_md_kept *kept, size_t at)
{
    size_t low = 0, high = kept->n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (kept->list[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < kept->n && kept->list[low].begin <= at ? kept->list[low].end : at;
}
