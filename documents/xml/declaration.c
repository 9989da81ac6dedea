#include "documents/xml/declaration.h"

#include "documents/declared_language.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* True if s[begin, end) is this word, in any case. */
static bool is_word(const char *s, size_t begin, size_t end, const char *word)
{
    return end - begin == strlen(word) && strncasecmp(s + begin, word, end - begin) == 0;
}

/* Find the encoding's name in the declaration that s[n] begins with; false: it has none. */
static bool find_encoding(const char *s, size_t n, size_t *begin, size_t *end)
{
    size_t at = dg_utf8_bom(s, n);
    if (n - at < 6 || !dg_scan_begins(s, at, n, "<?xml") || !strchr(" \t\r\n", s[at + 5]))
        return false;
    const size_t to = dg_scan_find(s, at, n, "?>");
    for (at = dg_scan_find(s, at, to, "encoding"); at < to && s[at] != '"' && s[at] != '\'';)
        at++;
    const char *quote = at < to ? memchr(s + at + 1, s[at], to - at - 1) : NULL;
    *begin = at + 1;
    *end = quote ? (size_t)(quote - s) : 0;
    return quote != NULL;
}

int dg_declaration_of_xml(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    const char *is = x->utf16 == DG_UTF16_NONE ? "UTF-8" : "UTF-16";
    size_t begin, end;
    if (!find_encoding(p->s, p->n, &begin, &end) || is_word(p->s, begin, end, is))
        return DG_OK;
    return dg_segment_add_bytes(x, p, (struct dg_span){begin, end}, DG_WRITE_DECLARATION, is, err);
}

/* ---- HTML ---- */

/* An attribute of a tag; equal ends of the value: it has none. */
struct attribute {
    size_t name, name_end, value, value_end;
};

/* Reads the next attribute of a tag from *at on; false: the tag has no more, or does not end. */
static bool next_attribute(const char *s, size_t n, size_t *at, struct attribute *a)
{
    size_t i = *at;
    while (i < n && (isspace((unsigned char)s[i]) || s[i] == '/'))
        i++;
    a->name = i;
    while (i < n && !isspace((unsigned char)s[i]) && !strchr("=>/", s[i]))
        i++;
    a->name_end = i;
    i = dg_scan_skip_ascii_space(s, i, n);
    a->value = a->value_end = i;
    if (i < n && s[i] == '=') {
        i = dg_scan_skip_ascii_space(s, i + 1, n);
        const char quote = i < n && (s[i] == '"' || s[i] == '\'') ? s[i] : 0;
        i += quote != 0;
        a->value = i;
        while (i < n && (quote ? s[i] != quote : !isspace((unsigned char)s[i]) && s[i] != '>'))
            i++;
        a->value_end = i;
        i += quote && i < n;
    }
    *at = i;
    return i < n && i > a->name;
}

/* Finds the encoding in the type s[begin, end), "text/html; charset=latin1" (in PO, "\n" follows);
 * false: it has none. */
static bool find_charset(const char *s, size_t *begin, size_t *end)
{
    static const char word[] = "charset";
    size_t at = dg_scan_find_letters(s, *begin, *end, word);
    at = dg_scan_skip_ascii_space(s, at < *end ? at + strlen(word) : at, *end);
    if (at == *end || s[at] != '=')
        return false;
    at = *begin = dg_scan_skip_ascii_space(s, at + 1, *end);
    while (at < *end && !isspace((unsigned char)s[at]) && !strchr(";\"'\\", s[at]))
        at++;
    *end = at;
    return *end > *begin;
}

/* Finds the encoding that the <meta> with attributes from *at on declares; false: none. */
static bool read_meta(const char *s, size_t n, size_t *at, size_t *begin, size_t *end)
{
    struct attribute a;
    size_t content = 0, content_end = 0;
    bool is_type = false;
    *begin = *end = 0;
    while (next_attribute(s, n, at, &a)) {
        if (is_word(s, a.name, a.name_end, "charset")) {
            *begin = a.value;
            *end = a.value_end;
        } else if (is_word(s, a.name, a.name_end, "content")) {
            content = a.value;
            content_end = a.value_end;
        } else if (is_word(s, a.name, a.name_end, "http-equiv")) {
            is_type = is_word(s, a.value, a.value_end, "content-type");
        }
    }
    if (*end > *begin)
        return true;
    *begin = content;
    *end = content_end;
    return is_type && find_charset(s, begin, end);
}

/* Finds the encoding that HTML declares, as browsers do: in a tag that is neither in a comment nor
 * in a script. */
static bool find_meta(const char *s, size_t n, size_t *begin, size_t *end)
{
    struct attribute name;
    for (size_t at = 0; (at = dg_scan_find(s, at, n, "<")) < n;) {
        at++;
        if (dg_scan_begins(s, at, n, "!--"))
            at = dg_scan_find(s, at + 1, n, "-->");
        if (at == n || !isalpha((unsigned char)s[at]) || !next_attribute(s, n, &at, &name))
            continue;
        if (is_word(s, name.name, name.name_end, "meta") && read_meta(s, n, &at, begin, end))
            return true;
        while (next_attribute(s, n, &at, &(struct attribute){0}))
            continue;
        if (is_word(s, name.name, name.name_end, "script"))
            at = dg_scan_find_letters(s, at, n, "</script");
        else if (is_word(s, name.name, name.name_end, "style"))
            at = dg_scan_find_letters(s, at, n, "</style");
    }
    return false;
}

int dg_declaration_of_type(
    struct dg_extract *x, struct dg_extract_part *p, size_t begin, size_t end, struct dg_error *err)
{
    if (x->utf16 != DG_UTF16_NONE || !find_charset(p->s, &begin, &end) ||
        is_word(p->s, begin, end, "UTF-8"))
        return DG_OK;
    return dg_segment_add_bytes(
        x, p, (struct dg_span){begin, end}, DG_WRITE_DECLARATION, "UTF-8", err);
}

/* Adds the languages of <html lang="en" xml:lang="en">. */
static int add_languages(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    static const char name[] = "<html";
    struct attribute a;
    int rc = DG_OK;
    for (size_t at = 0; (at = dg_scan_find_letters(p->s, at, p->n, name)) < p->n;) {
        at += strlen(name);
        if (at < p->n && isspace((unsigned char)p->s[at]))
            while (rc == DG_OK && next_attribute(p->s, p->n, &at, &a))
                if (is_word(p->s, a.name, a.name_end, "lang") ||
                    is_word(p->s, a.name, a.name_end, "xml:lang"))
                    rc = dg_declared_language_add(x, p, a.value, a.value_end, err);
    }
    return rc;
}

int dg_declaration_of_html(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    size_t begin, end;
    const int rc = add_languages(x, p, err);
    if (rc != DG_OK)
        return rc;
    if (x->utf16 != DG_UTF16_NONE || !find_meta(p->s, p->n, &begin, &end) ||
        is_word(p->s, begin, end, "UTF-8") || is_word(p->s, begin, end, "UTF8"))
        return DG_OK;
    return dg_segment_add_bytes(
        x, p, (struct dg_span){begin, end}, DG_WRITE_DECLARATION, "UTF-8", err);
}
