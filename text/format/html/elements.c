#include "text/format/html/elements.h"

#include <string.h>
#include <strings.h>

static const char blocks[] =
    " html head body title base link meta address article aside blockquote button caption center col "
    "colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frame "
    "frameset h1 h2 h3 h4 h5 h6 header hgroup hr label legend li listing main menu menuitem nav "
    "noframes noscript ol optgroup option p pre search section select summary table tbody td "
    "textarea tfoot th thead tr ul datalist marquee ";
static const char points[] = " img wbr input embed area source track param keygen ";
static const char opaque[] = " script style svg math iframe object audio video canvas noembed xmp "
                             "plaintext applet map picture rt rp template ";
static const char code[] = " code kbd samp var tt ";
static const char others[] = " a abbr acronym b bdi bdo big br cite data del dfn em font i ins "
                             "mark nobr output q ruby s small span strike strong sub sup time u ";

/* True if `list`, words with a space on both sides of each, has the word. */
static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; n > 0 && (at = strstr(at, word)); at += n)
        if (at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

enum dg_element dg_element_find(const char *name)
{
    if (has_word(opaque, name))
        return DG_ELEMENT_OPAQUE;
    if (has_word(blocks, name))
        return DG_ELEMENT_BLOCK;
    if (has_word(points, name))
        return DG_ELEMENT_POINT;
    if (has_word(code, name))
        return DG_ELEMENT_PROTECTED;
    return strcmp(name, "br") == 0 ? DG_ELEMENT_LINE_END : DG_ELEMENT_INLINE;
}

bool dg_element_is_known(const char *name)
{
    return has_word(others, name) || dg_element_find(name) != DG_ELEMENT_INLINE;
}

bool dg_element_is_notranslate(const char *classes, size_t n)
{
    static const char name[] = "notranslate", space[] = " \t\r\n\f";
    for (size_t at = 0, end; at < n; at = end + 1) {
        for (end = at; end < n && !strchr(space, classes[end]);)
            end++;
        if (end - at == strlen(name) && memcmp(classes + at, name, end - at) == 0)
            return true;
    }
    return false;
}

bool dg_element_value_is_text(const char *name, const char *attribute, const char *other)
{
    static const char anywhere[] = " alt title placeholder aria-label aria-description "
                                   "aria-placeholder aria-roledescription aria-valuetext ";
    static const char labelled[] = " option optgroup track ";
    static const char metas[] = " description og:title og:description og:image:alt twitter:title "
                                "twitter:description twitter:image:alt dc.title dc.description ";
    static const char buttons[] = " submit button reset ";
    char word[32] = "";
    if (has_word(anywhere, attribute))
        return true;
    if (strcmp(attribute, "label") == 0)
        return has_word(labelled, name);
    if (!other || strlen(other) >= sizeof word)
        return strcmp(attribute, "summary") == 0 && strcmp(name, "table") == 0;
    for (size_t i = 0; other[i]; i++)
        word[i] = other[i] >= 'A' && other[i] <= 'Z' ? (char)(other[i] + 'a' - 'A') : other[i];
    if (strcmp(name, "meta") == 0)
        return strcmp(attribute, "content") == 0 && has_word(metas, word);
    return strcmp(name, "input") == 0 && strcmp(attribute, "value") == 0 && has_word(buttons, word);
}
