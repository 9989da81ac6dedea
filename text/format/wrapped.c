/* Plain text whose paragraphs are wrapped by hand. */
#include "text/sentences/bullet.h"
#include "text/format/internal.h"
#include "text/utf8.h"

#include <string.h>

/* Skips a line's quotation marks, "> > "; *depth: their number. */
static size_t skip_quote(const char *s, const struct dg_line *l, unsigned *depth)
{
    size_t at = dg_line_indent(s, l);
    *depth = 0;
    while (at < l->end && s[at] == '>') {
        (*depth)++;
        at++;
        at = dg_line_skip_blanks(s, at, l->end);
    }
    return at;
}

/* Where a line's words begin, and properties that tell whether they continue the line before. */
struct start {
    /* after indent and quotation marks */
    size_t at;
    /* bytes of white space at the start of the line */
    size_t indent;
    /* depth of quotation */
    unsigned depth;
    bool is_item, has_letters;
};

static struct start start_of(const char *s, const struct dg_line *l)
{
    struct start r = {0};
    r.indent = dg_line_indent(s, l) - l->begin;
    r.at = skip_quote(s, l, &r.depth);
    r.is_item = r.at < l->end && dg_bullet_skip(s, r.at, l->end, dg_language_find("")) > r.at;
    r.has_letters = dg_utf8_has_letter(s + r.at, l->end - r.at);
    return r;
}

/* True if b continues a's paragraph. The second line may have a different indent: an item's lines
 * are indented below its bullet, and first lines may be indented. */
static bool goes_on(const struct start *a, bool second, const struct start *b)
{
    if (b->is_item || !b->has_letters || !a->has_letters || a->depth != b->depth)
        return false;
    return b->indent == a->indent || (second && (a->is_item || b->indent < a->indent));
}

void dg_document_wrapped(struct dg_document *d, const char *s, size_t n)
{
    struct dg_paragraph p = {0};
    struct start before = {0};
    bool second = false;
    struct dg_line line;
    for (size_t at = dg_utf8_bom(s, n); dg_line_at(s, n, at, &line); at = line.next) {
        struct start now = start_of(s, &line);
        if (now.at == line.end || !p.open || !goes_on(&before, second, &now))
            dg_paragraph_end(&p, d, s, dg_document_text);
        second = !p.open;
        before = now;
        dg_paragraph_add(&p, s, now.at, line.end);
    }
    dg_paragraph_end(&p, d, s, dg_document_text);
    dg_paragraph_deinit(&p, d);
}
