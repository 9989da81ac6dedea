/* A client's options for HTML and XML tags. Plain data; any thread. */
#ifndef DG_TEXT_FORMAT_MARKUP_H
#define DG_TEXT_FORMAT_MARKUP_H

#include <stdbool.h>
#include <stddef.h>

struct dg_markup {
    /* NULL-ended lists of tags' names, or NULL: none */
    /* end a sentence at either end */
    const char *const *splitting;
    /* enclose words of a sentence */
    const char *const *non_splitting;
    /* their content is not translated */
    const char *const *ignored;
    /* XML: no tags end sentences but those of `splitting`; else those do that have no text beside
     * them */
    bool no_outline;
    /* XML that is XHTML: its elements are HTML's */
    bool html;
};

/* Is s[n] in the list? Small and capital letters are the same. */
bool dg_markup_lists(const char *const *list, const char *s, size_t n);

#endif
