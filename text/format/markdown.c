/* Markdown's blocks (CommonMark's, and GitHub's tables): which lines are running text. Code, tags
 * that stand in lines of their own, definitions of links, front matter stay between the blocks. */
#include "text/format/internal.h"
#include "text/utf8.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define MAX_DEPTH 32 /* of quotations and items in one line */
#define BUDGET 64    /* bytes looked at in vain for each byte of text */

struct reader {
    struct dg_document *l;
    const char *s;
    size_t n;
    struct dg_paragraph p;
    unsigned depth; /* of the quotation that the paragraph is in */
    bool in_list;   /* an indented line goes on with an item: it is no code */
    bool in_text;   /* the line before is running text: more of it goes on with that */
    bool in_table;
    size_t budget; /* bytes to look at in vain */
};

/* A line without its quotation marks, bullets and numbers. */
struct content {
    size_t begin, end, indent;
    unsigned depth;
    bool is_item;
};

/* Behind "[^1]:", which a footnote begins with, or at. */
static size_t skip_footnote(const char *s, size_t at, size_t end)
{
    size_t i = at + 2;
    if (end - at < 5 || s[at] != '[' || s[at + 1] != '^')
        return at;
    while (i < end && !strchr("[] \t", s[i]))
        i++;
    return i > at + 2 && i + 1 < end && s[i] == ']' && s[i + 1] == ':' ? i + 2 : at;
}

/* Behind "- ", "* ", "+ ", "1. ", "1) " and a box "[ ] ", or a footnote's "[^1]:"; or at. */
static size_t skip_marker(const char *s, size_t at, size_t end)
{
    size_t i = skip_footnote(s, at, end);
    if (i > at)
        return i;
    if (i < end && strchr("-*+", s[i])) {
        i++;
    } else {
        while (i < end && i - at < 9 && isdigit((unsigned char)s[i]))
            i++;
        if (i == at || i >= end || (s[i] != '.' && s[i] != ')'))
            return at;
        i++;
    }
    if (i >= end || (s[i] != ' ' && s[i] != '\t'))
        return at;
    i = dg_line_skip_blanks(s, i, end);
    if (end - i >= 4 && s[i] == '[' && strchr(" xX", s[i + 1]) && s[i + 2] == ']' &&
        s[i + 3] == ' ')
        i += 4;
    return i;
}

/* "---", "* * *", "===": a line across, or one under a heading. */
static bool is_rule(const char *s, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (!strchr("-=*_ \t", s[i]))
            return false;
    return true;
}

static struct content content_of(const char *s, const struct dg_line *line)
{
    struct content c = {.begin = dg_line_indent(s, line), .end = line->end};
    c.indent = c.begin - line->begin;
    for (int i = 0; i < MAX_DEPTH && c.begin < c.end && !is_rule(s, c.begin, c.end); i++) {
        size_t at = c.begin;
        if (s[at] == '>') {
            c.depth++;
            at++;
            c.is_item = false;
        } else if ((at = skip_marker(s, at, c.end)) > c.begin) {
            c.is_item = true;
        }
        if (at == c.begin)
            break;
        c.begin = dg_line_skip_blanks(s, at, c.end);
    }
    return c;
}

static void flush(struct reader *r)
{
    dg_paragraph_end(&r->p, r->l, r->s, DG_MARKS_MARKDOWN);
}

/* A block of its own, if there is anything to say. */
static void lone(struct reader *r, size_t begin, size_t end)
{
    if (!dg_utf8_has_letter(r->s + begin, end - begin))
        return;
    dg_paragraph_add(&r->p, r->s, dg_line_skip_blanks(r->s, begin, end), end);
    flush(r);
}

static size_t run_of(const char *s, size_t at, size_t end)
{
    size_t n = 0;
    while (at + n < end && s[at + n] == s[at])
        n++;
    return n;
}

/* Does a fence of code begin here? Its length. */
static size_t fence_of(const char *s, const struct content *c)
{
    if (c->begin >= c->end || (s[c->begin] != '`' && s[c->begin] != '~'))
        return 0;
    size_t n = run_of(s, c->begin, c->end);
    bool spoilt = s[c->begin] == '`' && memchr(s + c->begin + n, '`', c->end - c->begin - n);
    return n >= 3 && !spoilt ? n : 0;
}

static size_t skip_fence(struct reader *r, const struct content *open, size_t at)
{
    size_t n = fence_of(r->s, open);
    struct dg_line line;
    for (; dg_line_at(r->s, r->n, at, &line); at = line.next) {
        struct content c = content_of(r->s, &line);
        size_t m = c.begin < c.end && r->s[c.begin] == r->s[open->begin]
                       ? run_of(r->s, c.begin, c.end)
                       : 0;
        if (m >= n && is_rule(r->s, c.begin + m, c.end))
            return line.next;
    }
    return r->n;
}

/* Tags that make blocks; text between them is left alone. */
static bool is_block_tag(const char *s, size_t begin, size_t end)
{
    static const char *const names[] = {"address", "article", "aside", "blockquote", "body",
        "center", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer",
        "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe", "li",
        "link", "main", "menu", "meta", "nav", "ol", "p", "picture", "pre", "script", "section",
        "source", "style", "summary", "table", "tbody", "td", "textarea", "tfoot", "th", "thead",
        "title", "tr", "ul", "video"};
    size_t at = begin + 1, n = 0;
    if (begin >= end || s[begin] != '<')
        return false;
    if (at < end && (s[at] == '!' || s[at] == '?'))
        return true;
    at += at < end && s[at] == '/';
    while (at + n < end && isalnum((unsigned char)s[at + n]))
        n++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && strncasecmp(s + at, names[i], n) == 0)
            return true;
    return false;
}

/* What ends the tag s[n], if it comes, where a blank line does not; NULL: one does. */
static const char *end_mark(const char *s, size_t n)
{
    static const char *const names[][2] = {{"<pre", "</pre>"}, {"<script", "</script>"},
        {"<style", "</style>"}, {"<textarea", "</textarea>"}};
    if (n >= 4 && memcmp(s, "<!--", 4) == 0)
        return "-->";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i][0]);
        if (n >= len && strncasecmp(s, names[i][0], len) == 0 &&
            (n == len || strchr(" \t>", s[len])))
            return names[i][1];
    }
    return NULL;
}

static bool has_mark(const char *s, size_t begin, size_t end, const char *mark)
{
    size_t len = strlen(mark);
    for (size_t i = begin; i + len <= end; i++)
        if (s[i] == mark[0] && strncasecmp(s + i, mark, len) == 0)
            return true;
    return false;
}

/* Is the line within the quotation, or the item, that c is in? What is in an item is set in. */
static bool is_within(const struct reader *r, const struct content *c, const struct dg_line *line)
{
    if (c->depth > 0)
        return content_of(r->s, line).depth >= c->depth;
    size_t outside = c->is_item ? c->indent : 0;
    bool in_item = c->is_item || (r->in_list && c->indent > 0);
    return !in_item || dg_line_indent(r->s, line) - line->begin > outside ||
           dg_line_is_blank(r->s, line);
}

/* Nothing stands in it, at the same depth of quotation. */
static bool is_empty(const char *s, const struct content *c, const struct dg_line *line)
{
    struct content here = content_of(s, line);
    return here.begin == here.end && here.depth == c->depth;
}

/* Behind the line where the mark is that c's tag ends with; 0: there is none in the same quotation
 * or item. Looking for it in vain comes off a budget, so that time grows with length alone. */
static size_t behind_mark(struct reader *r, const struct content *c, size_t at, const char *mark)
{
    struct dg_line line;
    if (has_mark(r->s, c->begin, c->end, mark))
        return at;
    size_t begin = at, limit = r->n - at > r->budget ? at + r->budget : r->n;
    for (; dg_line_at(r->s, limit, at, &line) && is_within(r, c, &line); at = line.next)
        if (has_mark(r->s, line.begin, line.end, mark))
            return line.next;
    r->budget -= at - begin;
    return 0;
}

/* Behind the mark that ends the tag, or to the blank line or the end of the quotation or item: a
 * tag without its mark may be one that is spoken of. (CommonMark: then, too, to the end of what it
 * is in.) */
static size_t skip_tags(struct reader *r, const struct content *c, size_t at)
{
    struct dg_line line;
    const char *mark = end_mark(r->s + c->begin, c->end - c->begin);
    size_t end = mark ? behind_mark(r, c, at, mark) : 0;
    if (end)
        return end;
    while (dg_line_at(r->s, r->n, at, &line) && is_within(r, c, &line) && !is_empty(r->s, c, &line))
        at = line.next;
    return at;
}

/* Behind the next `close` from `at` on, but for escaped ones; 0: there is none. */
static size_t behind(const char *s, size_t at, size_t end, char close)
{
    for (; at < end; at++) {
        if (s[at] == '\\')
            at++;
        else if (s[at] == close)
            return at + 1;
    }
    return 0;
}

/* Behind "/address", "<an address>", or 0. */
static size_t skip_destination(const char *s, size_t at, size_t end)
{
    size_t i = at;
    if (i < end && s[i] == '<')
        return behind(s, i + 1, end, '>');
    while (i < end && s[i] != ' ' && s[i] != '\t')
        i++;
    return i > at ? i : 0;
}

/* [name]: address "title" */
static bool is_definition(const char *s, const struct content *c)
{
    size_t at = c->begin < c->end && s[c->begin] == '[' ? behind(s, c->begin + 1, c->end, ']') : 0;
    if (at <= c->begin + 2 || at >= c->end || s[at] != ':')
        return false;
    at = dg_line_skip_blanks(s, at + 1, c->end);
    if (at == c->end)
        return true; /* its address is in the next line */
    at = skip_destination(s, at, c->end);
    size_t title = at ? dg_line_skip_blanks(s, at, c->end) : 0;
    if (title == at || title == c->end)
        return at && title == c->end;
    if (!strchr("\"'(", s[title]))
        return false;
    at = behind(s, title + 1, c->end, s[title] == '(' ? ')' : s[title]);
    return at && dg_line_skip_blanks(s, at, c->end) == c->end;
}

/* "|---|:--:|" */
static bool is_delimiter_row(const char *s, const struct dg_line *line)
{
    bool dash = false, bar = false;
    for (size_t i = line->begin; i < line->end; i++) {
        if (!strchr("|:- \t>", s[i]))
            return false;
        dash = dash || s[i] == '-';
        bar = bar || s[i] == '|';
    }
    return dash && bar;
}

static bool is_table_row(const struct reader *r, const struct content *c, size_t next)
{
    struct dg_line line;
    if (!memchr(r->s + c->begin, '|', c->end - c->begin))
        return false;
    return r->in_table || (dg_line_at(r->s, r->n, next, &line) && is_delimiter_row(r->s, &line));
}

/* Each cell is a block. */
static void read_cells(struct reader *r, const struct content *c)
{
    size_t begin = c->begin;
    bool code = false;
    for (size_t i = c->begin; i <= c->end; i++) {
        bool end = i == c->end;
        if (!end && r->s[i] == '\\' && i + 1 < c->end) {
            i++;
        } else if (!end && r->s[i] == '`') {
            code = !code;
        } else if (end || (r->s[i] == '|' && !code)) {
            lone(r, begin, i);
            begin = i + 1;
        }
    }
}

/* "## Heading ##" */
static size_t heading_of(const char *s, const struct content *c)
{
    if (c->begin >= c->end || s[c->begin] != '#')
        return 0;
    size_t n = run_of(s, c->begin, c->end);
    return n <= 6 && c->begin + n < c->end && strchr(" \t", s[c->begin + n]) ? n : 0;
}

static void read_heading(struct reader *r, const struct content *c, size_t hashes)
{
    size_t end = c->end;
    while (end > c->begin + hashes && strchr(" \t#", r->s[end - 1]))
        end--;
    lone(r, c->begin + hashes, end);
}

/* One line of a paragraph. Two spaces or a backslash at its end break it for good. */
static void read_text(struct reader *r, const struct content *c)
{
    const char *s = r->s;
    bool spaces = c->end - c->begin >= 2 && s[c->end - 1] == ' ' && s[c->end - 2] == ' ';
    bool backslash = s[c->end - 1] == '\\';
    if (c->is_item || c->depth != r->depth)
        flush(r);
    r->depth = c->depth;
    dg_paragraph_add(&r->p, s, c->begin, c->end - backslash);
    if (spaces || backslash)
        flush(r);
}

/* A line that is not blank; the next one's begin. */
static size_t read_line(struct reader *r, const struct content *c, const struct dg_line *line)
{
    size_t hashes = heading_of(r->s, c);
    bool is_code = !r->in_text && !r->in_list && c->depth == 0 &&
                   (c->indent >= 4 || memchr(r->s + line->begin, '\t', c->indent));
    bool is_text = false, goes_on = r->in_text && c->depth == r->depth;
    size_t next = line->next;
    r->in_table = is_table_row(r, c, next) && !is_code;
    if (r->in_table || hashes || fence_of(r->s, c))
        flush(r);
    if (is_code)
        return next;
    if (fence_of(r->s, c))
        next = skip_fence(r, c, next);
    else if (is_block_tag(r->s, c->begin, c->end))
        next = skip_tags(r, c, next);
    else if (r->in_table)
        read_cells(r, c);
    else if (hashes)
        read_heading(r, c, hashes);
    else
        is_text = !is_definition(r->s, c) && dg_utf8_has_letter(r->s + c->begin, c->end - c->begin);
    if (is_text)
        read_text(r, c);
    else
        flush(r);
    r->in_list = c->is_item || (r->in_list && (c->indent > 0 || (is_text && goes_on)));
    r->in_text = is_text;
    return next;
}

/* "---" in the first line, up to the next one; behind a byte-order mark. */
static size_t skip_front_matter(const char *s, size_t n)
{
    struct dg_line line;
    size_t begin = n >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (!dg_line_at(s, n, begin, &line) || line.end != begin + 3 ||
        memcmp(s + begin, "---", 3) != 0)
        return begin;
    for (size_t at = line.next; dg_line_at(s, n, at, &line); at = line.next)
        if (line.end - line.begin == 3 &&
            (memcmp(s + line.begin, "---", 3) == 0 || memcmp(s + line.begin, "...", 3) == 0))
            return line.next;
    return begin;
}

void dg_document_markdown(struct dg_document *l, const char *s, size_t n)
{
    struct reader r = {.l = l, .s = s, .n = n, .budget = BUDGET * n};
    struct dg_line line;
    for (size_t at = skip_front_matter(s, n); dg_line_at(s, n, at, &line);) {
        struct content c = content_of(s, &line);
        if (c.begin == c.end) {
            flush(&r);
            r.in_table = r.in_text = false;
            r.in_list = r.in_list || c.is_item; /* its text is in the next line */
            at = line.next;
        } else {
            at = read_line(&r, &c, &line);
        }
    }
    flush(&r);
    dg_paragraph_deinit(&r.p, l);
}
