/* How the tags of HTML and XML are treated, and what a program's strings have. Plain data; any
 * thread. */
#ifndef DG_TEXT_FORMAT_MARKUP_H
#define DG_TEXT_FORMAT_MARKUP_H

#include <stdbool.h>
#include <stddef.h>

struct dg_markup {
    /* NULL-terminated lists of tag names, or NULL: none */
    /* tags that end a sentence on either side */
    const char *const *splitting;
    /* tags that enclose words of a sentence */
    const char *const *non_splitting;
    /* tags whose content is not translated */
    const char *const *ignored;
    /* XML: only the tags of `splitting` end sentences; otherwise tags that have no text beside them
     * do, too */
    bool no_outline;
    /* the XML is XHTML: its elements are HTML's */
    bool html;
    /* the XML has XLIFF's inline codes */
    bool codes;
    /* XML: line ends are part of the text: they end sentences */
    bool lines;
    /* plain text: it is a program's string, in which $1 and --name are placeholders */
    bool program;
    /* the signs that may be before the letter of a key in it, such as "&" (Windows, KDE) and "_"
     * (GTK): translate/job/key_sign.h; or NULL */
    const char *key_signs;
};

/* True if the list has s[n], ignoring ASCII case. */
bool dg_markup_lists(const char *const *list, const char *s, size_t n);

#endif
