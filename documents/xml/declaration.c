#include "documents/xml/declaration.h"
#include "text/utf8.h"

#include <string.h>
#include <strings.h>

/* Find the encoding's name in the declaration that s[n] begins with; false: it has none. */
static bool find_encoding(const char *s, size_t n, size_t *begin, size_t *end)
{
    static const char word[] = "encoding";
    size_t at = dg_utf8_bom(s, n);
    if (n - at < 6 || memcmp(s + at, "<?xml", 5) != 0 || !strchr(" \t\r\n", s[at + 5]))
        return false;
    const char *close = memmem(s + at, n - at, "?>", 2);
    const size_t to = close ? (size_t)(close - s) : n;
    const char *found = memmem(s + at, to - at, word, strlen(word));
    if (!found)
        return false;
    for (at = (size_t)(found - s); at < to && s[at] != '"' && s[at] != '\'';)
        at++;
    const char *quote = at < to ? memchr(s + at + 1, s[at], to - at - 1) : NULL;
    *begin = at + 1;
    *end = quote ? (size_t)(quote - s) : 0;
    return quote != NULL;
}

int dg_xml_declare(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    const char *is = x->utf16 == DG_UTF16_NONE ? "UTF-8" : "UTF-16";
    struct dg_segment like = {.writing = DG_WRITE_DECLARATION};
    if (!find_encoding(p->s, p->n, &like.begin, &like.end) ||
        (like.end - like.begin == strlen(is) &&
            strncasecmp(p->s + like.begin, is, strlen(is)) == 0))
        return DG_OK;
    struct dg_segment *g = dg_segment_add(x, p, like, NULL, 0, err);
    if (!g || !(g->before = strdup(is)))
        return dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    return DG_OK;
}
