#include "text/format/directive.h"

#include "text/format/internal.h"
#include "text/scan.h"

#include <ctype.h>
#include <string.h>

static size_t skip_name(const char *s, size_t at, size_t end)
{
    while (at < end && (isalnum((unsigned char)s[at]) || s[at] == '-' || s[at] == '_'))
        at++;
    return at;
}

static bool ends(const char *s, size_t at, size_t end, const char *what)
{
    const size_t n = strlen(what);
    return end - at >= n && memcmp(s + end - n, what, n) == 0;
}

/* Columns of the white space at s[at, end). */
static size_t count_indent(const char *s, size_t at, size_t end)
{
    size_t columns = 0;
    for (; at < end && (s[at] == ' ' || s[at] == '\t'); at++)
        columns += s[at] == '\t' ? 4 - columns % 4 : 1;
    return columns;
}

/* True if the line after the one with s[at, end) that is not blank is indented by four spaces more
 * than that. */
static bool has_content(const char *s, size_t n, size_t at, size_t end)
{
    size_t begin = at, next = end;
    while (begin > 0 && !strchr("\r\n", s[begin - 1]))
        begin--;
    for (size_t i = end; i < n && isspace((unsigned char)s[i]); i++)
        next = strchr("\r\n", s[i]) ? i + 1 : next;
    return next > end && count_indent(s, next, n) >= count_indent(s, begin, at) + 4;
}

/* Sets the title "..." that s[at, end) is; false: it is none. */
static bool read_quoted(const char *s, size_t at, size_t end, struct dg_directive *out)
{
    if (end - at < 2 || s[at] != '"' || s[end - 1] != '"' || memchr(s + at + 1, '"', end - at - 2))
        return false;
    out->text = at + 1;
    out->text_end = end - 1;
    out->quoted = true;
    return true;
}

/* !!! note "Title", ??? tip, ???+ tip, !!! note inline end, === "Tab" */
static bool read_indenting(const char *s, size_t at, size_t end, struct dg_directive *out)
{
    const bool tab = s[at] == '=';
    size_t i = at + 3;
    i += i < end && (s[i] == '+' || (tab && s[i] == '!'));
    i = dg_line_skip_blanks(s, i, end);
    while (!tab && skip_name(s, i, end) > i)
        i = dg_line_skip_blanks(s, skip_name(s, i, end), end);
    out->indents = true;
    return (i == end && !tab) || read_quoted(s, i, end, out);
}

/* Sets the title in {.note title="Title"}, s[at, end). */
static void read_attributes(const char *s, size_t at, size_t end, struct dg_directive *out)
{
    static const char name[] = "title=\"";
    const size_t found = dg_scan_find(s, at, end, name);
    if (found == end)
        return;
    const size_t begin = found + strlen(name);
    const char *close = memchr(s + begin, '"', end - begin);
    if (!close || !strchr(" {", s[found - 1]))
        return;
    out->text = begin;
    out->text_end = (size_t)(close - s);
    out->quoted = true;
}

/* The words after the name of a directive: a title, unless they are arguments of one whose name is
 * s[name, name_end). */
static void read_words(
    const char *s, size_t at, size_t end, const size_t name[2], struct dg_directive *out)
{
    static const char *const others[] = {"code", "code-block", "code-cell", "figure", "image",
        "include", "literalinclude", "math", "raw", "toctree"};
    end = dg_line_trim_blanks(s, at, end);
    while (end > at && s[end - 1] == ':')
        end = dg_line_trim_blanks(s, at, end - 1);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i]) == name[1] - name[0] &&
            memcmp(others[i], s + name[0], name[1] - name[0]) == 0)
            return;
    if (memmem(s + at, end - at, "=\"", 2))
        return;
    out->text = at;
    out->text_end = end;
}

/* :::, :::note[Title], ::: tip Title, ::: {.note title="Title"}, :::{note} Title */
static bool read_fence(const char *s, size_t at, size_t end, struct dg_directive *out)
{
    size_t i = at;
    while (i < end && s[i] == ':')
        i++;
    i = dg_line_skip_blanks(s, i, end);
    if (i < end && s[i] == '{') {
        const char *close = memchr(s + i, '}', end - i);
        const size_t to = close ? (size_t)(close - s) : end;
        const size_t name[2] = {i + 1, to};
        out->has_options = true;
        read_attributes(s, i, to, out);
        if (close && out->text == out->text_end)
            read_words(s, dg_line_skip_blanks(s, to + 1, end), end, name, out);
        return close;
    }
    const size_t name[2] = {i, skip_name(s, i, end)};
    const size_t to = dg_line_skip_blanks(s, name[1], end);
    const char *close = to < end && s[to] == '[' ? memchr(s + to, ']', end - to) : NULL;
    const char *open = memchr(s + to, '{', end - to);
    if (close) {
        out->text = to + 1;
        out->text_end = (size_t)(close - s);
    } else if (name[1] > i) {
        read_words(s, to, open ? (size_t)(open - s) : end, name, out);
    }
    if (open && out->text == out->text_end)
        read_attributes(s, (size_t)(open - s), end, out);
    return name[1] > i || i == end;
}

/* {: .class}, {#id .class} and lines of nothing but {% tags %} and {{< shortcodes >}} */
static bool is_braces(const char *s, size_t at, size_t end)
{
    static const char *const pairs[][2] = {{"{{<", ">}}"}, {"{{%", "%}}"}, {"{%", "%}"}};
    size_t i = at;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs && i < end;) {
        const size_t n = strlen(pairs[k][0]), m = strlen(pairs[k][1]);
        const size_t close =
            dg_scan_begins(s, i, end, pairs[k][0]) ? dg_scan_find(s, i + n, end, pairs[k][1]) : end;
        i = close < end ? dg_line_skip_blanks(s, close + m, end) : i;
        k = close < end ? 0 : k + 1;
    }
    const size_t first = dg_line_skip_blanks(s, at + 1, end);
    return i == end || (first + 1 < end && strchr(":#.", s[first]) &&
                           memchr(s + at, '}', end - at) == s + end - 1);
}

/* A whole line that says nothing to a reader. */
static bool is_silent(const char *s, size_t at, size_t end)
{
    if (s[at] == '{')
        return is_braces(s, at, end) ||
               (dg_scan_begins(s, at, end, "{/*") && ends(s, at, end, "*/}"));
    if (s[at] == '(')
        return skip_name(s, at + 1, end) > at + 1 && skip_name(s, at + 1, end) + 2 == end &&
               ends(s, at, end, ")=");
    if (dg_scan_begins(s, at, end, "import ")) {
        const size_t to = end - (s[end - 1] == ';'), name = at + strlen("import ");
        return strchr("'\"", s[to - 1]) &&
               (strchr("'\"", s[name]) || dg_scan_find(s, at, to, " from ") < to);
    }
    if (dg_scan_begins(s, at, end, "+++") && (end - at == 3 || dg_scan_begins(s, at, end, "+++ {")))
        return true;
    return dg_scan_begins(s, at, end, "--8<--") ||
           (end - at == 5 && dg_scan_begins(s, at, end, "[TOC]"));
}

/* True if the line begins a block of code, or a table that is drawn. */
static bool is_block(const char *s, size_t at, size_t end)
{
    static const char *const starts[] = {"export const ", "export default ", "export function ",
        "export let ", "export async ", "import {", "\\begin{", "{% highlight ", "{{< highlight ",
        "{{< code-toggle", "+--", "+==", "+:-"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (dg_scan_begins(s, at, end, starts[i]))
            return true;
    return false;
}

/* True if the line begins a block of comments: "% a comment" after a blank line. In the first lines
 * of a text, this is Pandoc's title. */
static bool is_comment(const char *s, size_t at, size_t end)
{
    size_t lines = 0;
    if (!dg_scan_begins(s, at, end, "% "))
        return false;
    while (at > 0 && isspace((unsigned char)s[at - 1]))
        lines += s[--at] == '\n';
    return at > 0 && lines > 1;
}

bool dg_directive_read(const char *s, size_t n, size_t at, size_t end,
    const struct dg_directive *before, struct dg_directive *out)
{
    *out = (struct dg_directive){0};
    if (end - at < 2)
        return false;
    if (dg_scan_begins(s, at, end, ":::"))
        return read_fence(s, at, end, out);
    if (dg_scan_begins(s, at, end, "!!!") || dg_scan_begins(s, at, end, "???") ||
        dg_scan_begins(s, at, end, "==="))
        return read_indenting(s, at, end, out) && has_content(s, n, at, end);
    out->all = is_block(s, at, end) || is_comment(s, at, end);
    if (out->all || s[at] != ':')
        return out->all || is_silent(s, at, end);
    if (s[at + 1] == ' ' || s[at + 1] == '\t') {
        *out = (struct dg_directive){.goes_on = true, .indents = true, .text_end = end};
        out->text = dg_line_skip_blanks(s, at + 1, end);
        return true;
    }
    const size_t name = skip_name(s, at + 1, end);
    out->has_options = before && before->has_options && name > at + 1 && name < end;
    return out->has_options && s[name] == ':';
}
