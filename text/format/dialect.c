#include "text/format/dialect.h"

#include "text/format/internal.h"
#include "text/scan.h"

#include <ctype.h>
#include <string.h>

#define LONGEST 512 /* bytes of one part, to keep the time linear */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

static bool follows_word(const char *s, size_t at)
{
    return at > 0 && is_word(s[at - 1]);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool kept(struct dg_dialect *out, size_t begin, size_t end, size_t to)
{
    *out = (struct dg_dialect){.end = to, .letters = begin, .letters_end = end};
    return true;
}

static bool pair(struct dg_dialect *out, size_t end, size_t close, size_t close_end)
{
    *out = (struct dg_dialect){.end = end, .close = close, .close_end = close_end};
    return end < close;
}

/* Skips one of #id, .class, -, name=value, name="a value"; `at`: it is none of these. */
static size_t skip_attribute(const char *s, size_t at, size_t end)
{
    size_t i = at + (strchr("#.", s[at]) != NULL);
    const bool named = i == at;
    while (i < end && (is_word(s[i]) || strchr("-:.", s[i])))
        i++;
    if (!named || i == at + 1)
        return i > at + 1 || s[at] == '-' ? i : at;
    if (i == at || i == end || s[i] != '=')
        return at;
    i++;
    if (i < end && strchr("\"'", s[i])) {
        const char *close = memchr(s + i + 1, s[i], end - i - 1);
        return close ? (size_t)(close - s) + 1 : at;
    }
    while (i < end && !is_blank(s[i]) && s[i] != '}')
        i++;
    return i;
}

size_t dg_dialect_attributes(const char *s, size_t at, size_t end)
{
    size_t i = at + 1, n = 0;
    if (at >= end || s[at] != '{')
        return at;
    i += i < end && s[i] == ':';
    for (i = dg_line_skip_blanks(s, i, end); i < end && s[i] != '}'; n++) {
        const size_t to = skip_attribute(s, i, end);
        if (to == i)
            return at;
        i = dg_line_skip_blanks(s, to, end);
    }
    return n > 0 && i < end ? i + 1 : at;
}

/* $a_1$, $$a$$ and $$ a_1 $$; neither "$5 and $10" nor "$5, or 6$". */
static bool read_formula(const char *s, size_t at, size_t end, struct dg_dialect *out)
{
    const char *const sign = end - at > 1 && s[at + 1] == '$' ? "$$" : "$";
    const size_t n = strlen(sign), begin = at + n, close = dg_scan_find(s, begin, end, sign);
    if (close == end || close == begin || follows_word(s, at) || (at > 0 && s[at - 1] == '$') ||
        (n == 1 && (is_blank(s[begin]) || is_blank(s[close - 1]))) || s[close - 1] == '\\' ||
        (close + n < end && is_word(s[close + n])))
        return false;
    for (size_t i = begin; i < close; i++)
        if (strchr("\\^_={}", s[i]))
            return kept(out, begin, close, close + n);
    return !memchr(s + begin, ' ', close - begin) && kept(out, begin, close, close + n);
}

/* [[page]], [[page|name]], [[page\|name]] in a table, ![[picture.png|100]] */
static bool read_wiki_link(const char *s, size_t at, size_t end, struct dg_dialect *out)
{
    const size_t begin = at + 2, close = dg_scan_find(s, begin, end, "]]"), to = close + 2;
    if (close == end || close == begin || memchr(s + begin, '[', close - begin) ||
        (to < end && strchr("([]", s[to])))
        return false;
    const size_t bar = dg_scan_find(s, begin, close, "|");
    if (bar + 1 < close && !(at > 0 && s[at - 1] == '!'))
        return pair(out, bar + 1, close, to);
    return kept(out, begin, bar, to);
}

/* The end of "({{< ref "page" >}})", "({% link a.md %})", "({{ site.url }}/a)" at s[at]; at: none.
 */
static size_t skip_address(const char *s, size_t at, size_t end)
{
    size_t to;
    if (end - at < 5 || s[at] != '(' || s[at + 1] != '{' || !strchr("{%", s[at + 2]))
        return at;
    to = dg_scan_find(s, at, end, s[at + 2] == '{' ? "}}" : "%}");
    to = dg_scan_find(s, to, end, ")");
    return to < end ? to + 1 : at;
}

/* [text]{.class} and [text]({{< ref "page" >}}) */
static bool read_brackets(const char *s, size_t at, size_t end, struct dg_dialect *out)
{
    size_t depth = 0, close = at;
    for (; close < end; close++) {
        depth += s[close] == '[';
        if (s[close] == ']' && --depth == 0)
            break;
    }
    const size_t next = close + 1, attributes = dg_dialect_attributes(s, next, end),
                 address = next < end ? skip_address(s, next, end) : next;
    if (attributes > next)
        return pair(out, at + 1, close, attributes);
    return next < end && address > next && pair(out, at + 1, close, address);
}

/* ==marked== */
static bool read_marked(const char *s, size_t at, size_t end, struct dg_dialect *out)
{
    const size_t begin = at + 2, close = dg_scan_find(s, begin, end, "==");
    return end - at > 4 && s[at + 1] == '=' && !strchr(" \t=", s[begin]) && !follows_word(s, at) &&
           (at == 0 || s[at - 1] != '=') && close < end && !is_blank(s[close - 1]) &&
           !(close + 2 < end && (s[close + 2] == '=' || is_word(s[close + 2]))) &&
           pair(out, begin, close, close + 2);
}

/* ++ctrl+alt++ */
static bool read_keys(const char *s, size_t at, size_t end, struct dg_dialect *out)
{
    const size_t begin = at + 2, close = dg_scan_find(s, begin, end, "++");
    if (end - at < 5 || s[at + 1] != '+' || close == end || close == begin || follows_word(s, at) ||
        (at > 0 && strchr("{+", s[at - 1])))
        return false;
    for (size_t i = begin; i < close; i++)
        if (!is_word(s[i]) && !strchr("+-", s[i]))
            return false;
    return kept(out, begin, close, close + 2);
}

/* @fig-dog, @smith:2004; not the name of an account, which is an address. */
static bool read_citation(const char *s, size_t at, size_t end, struct dg_dialect *out)
{
    size_t i = at + 1;
    if (follows_word(s, at) || i == end || !isalpha((unsigned char)s[i]))
        return false;
    while (i < end && (is_word(s[i]) || strchr("-:.", s[i])))
        i++;
    while (i > at && !is_word(s[i - 1]))
        i--;
    return kept(out, at, i, i);
}

/* %%a comment%%; %%Name%% is a placeholder, 5%% none of both. */
static bool read_comment(const char *s, size_t at, size_t end, struct dg_dialect *out)
{
    const size_t begin = at + 2, close = dg_scan_find(s, begin, end, "%%"), to = close + 2;
    return end - at > 5 && s[at + 1] == '%' && close < end && !follows_word(s, at) &&
           memchr(s + begin, ' ', close - begin) && !(to < end && is_word(s[to])) &&
           kept(out, at, at, to);
}

/* #group/tag, #a-tag; neither #1 nor the heading #Title, nor a part of a word. */
static bool read_tag(const char *s, size_t at, size_t end, struct dg_dialect *out)
{
    size_t i = at + 1, signs = 0;
    if ((at > 0 && !isspace((unsigned char)s[at - 1])) || i == end || !isalpha((unsigned char)s[i]))
        return false;
    for (; i < end && (is_word(s[i]) || strchr("-/", s[i])); i++)
        signs += strchr("-/", s[i]) != NULL;
    return signs > 0 && is_word(s[i - 1]) && kept(out, at, i, i);
}

size_t dg_dialect_trim_id(const char *s, size_t begin, size_t end)
{
    size_t at = end;
    while (at > begin && (isalnum((unsigned char)s[at - 1]) || s[at - 1] == '-'))
        at--;
    if (at == end || at == begin || s[at - 1] != '^')
        return end;
    at--;
    if (at > begin && !is_blank(s[at - 1]))
        return end;
    return dg_line_trim_blanks(s, begin, at);
}

bool dg_dialect_read(const char *s, size_t at, size_t end, struct dg_dialect *out)
{
    end = end - at > LONGEST ? at + LONGEST : end;
    end = dg_scan_find(s, at, end, "\n");
    if (at > 0 && s[at - 1] == '\\')
        return false;
    switch (s[at]) {
    case '$': return read_formula(s, at, end, out);
    case '[':
        return end - at > 4 && s[at + 1] == '[' ? read_wiki_link(s, at, end, out)
                                                : read_brackets(s, at, end, out);
    case '!':
        return end - at > 5 && s[at + 1] == '[' && s[at + 2] == '[' &&
               read_wiki_link(s, at + 1, end, out);
    case '=': return read_marked(s, at, end, out);
    case '+': return read_keys(s, at, end, out);
    case '@': return read_citation(s, at, end, out);
    case '%': return read_comment(s, at, end, out);
    case '#': return read_tag(s, at, end, out);
    case '{': *out = (struct dg_dialect){.end = dg_dialect_attributes(s, at, end)}; break;
    default: return false;
    }
    return out->end > at;
}
