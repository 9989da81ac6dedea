/* Pairs of tags within running text: <b>, </b>. */
#include "text/format/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_OPEN 64 /* tags that a closing tag is compared with, to keep the time linear */

/* Finds the name of an opening or closing tag; false: it is neither, or an element that encloses
 * nothing, such as <br>. */
static bool name_of(const char *s, const struct dg_mark *m, bool *closes, size_t *begin, size_t *n)
{
    static const char *const empty[] = {"br", "img", "hr", "wbr", "input", "source"};
    size_t at = m->begin + 1;
    if (m->kind != DG_MARK_POINT || m->end - m->begin < 3 || s[m->begin] != '<' ||
        s[m->end - 1] != '>' || s[m->end - 2] == '/')
        return false;
    *closes = s[at] == '/';
    *begin = at += *closes;
    while (isalnum((unsigned char)s[at]) || strchr("-_:", s[at]))
        at++;
    *n = at - *begin;
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        if (strlen(empty[i]) == *n && strncasecmp(s + *begin, empty[i], *n) == 0)
            return false;
    return *n > 0 && s[*begin] != '-' && s[*begin] != ':';
}

/* A pair that is not closed yet: an OPEN mark, or a tag that may become one. */
struct open {
    size_t mark;
    /* 0: a tag */
    uint32_t id;
    size_t name, len;
};

/* Index of the open tag that s[name, name + len) closes; n if there is none since the innermost
 * open pair began. */
static size_t find_open(const struct open *open, size_t n, const char *s, size_t name, size_t len)
{
    for (size_t k = n; k-- > 0 && !open[k].id && n - k <= MAX_OPEN;)
        if (open[k].len == len && strncasecmp(s + open[k].name, s + name, len) == 0)
            return k;
    return n;
}

static void stand_alone(struct dg_mark *m)
{
    m->kind = DG_MARK_POINT;
    m->id = 0;
}

void dg_tags_pair(struct dg_document *d, const char *s, size_t first)
{
    struct dg_mark *marks = d->marks;
    struct open *open = malloc((d->n_marks - first + 1) * sizeof *open);
    size_t n = 0;
    d->text.failed = d->text.failed || !open;
    for (size_t i = first; open && i < d->n_marks; i++) {
        size_t name, len, k = n;
        bool closes;
        if (marks[i].kind == DG_MARK_OPEN) {
            open[n++] = (struct open){.mark = i, .id = marks[i].id};
        } else if (marks[i].kind == DG_MARK_CLOSE) {
            /* tags that were opened since then have no partner */
            while (k > 0 && !open[k - 1].id)
                k--;
            if (k > 0 && open[k - 1].id == marks[i].id)
                n = k - 1;
            else
                stand_alone(&marks[i]);
        } else if (name_of(s, &marks[i], &closes, &name, &len)) {
            if (!closes)
                open[n++] = (struct open){.mark = i, .name = name, .len = len};
            else if ((k = find_open(open, n, s, name, len)) < n) {
                marks[open[k].mark].kind = DG_MARK_OPEN;
                marks[i].kind = DG_MARK_CLOSE;
                marks[open[k].mark].id = marks[i].id = ++d->ids;
                n = k;
            }
        }
    }
    while (n-- > 0)
        stand_alone(&marks[open[n].mark]);
    free(open);
}
