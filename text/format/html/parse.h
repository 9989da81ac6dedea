/* HTML by libgumbo, as a list of what its bytes are, in their order: tags, and attributes within
 * them. What is between two of these is text. Any thread. Only for text/format/html. */
#ifndef DG_TEXT_FORMAT_HTML_PARSE_H
#define DG_TEXT_FORMAT_HTML_PARSE_H

#include "base/error.h"
#include "text/format/document.h"

enum dg_html_kind {
    DG_HTML_BLOCK,     /* a tag that ends a sentence; it may be omitted and have no bytes */
    DG_HTML_OPEN,      /* an inline tag */
    DG_HTML_CLOSE,     /* */
    DG_HTML_POINT,     /* an image, a comment, a whole <script> */
    DG_HTML_LINE_END,  /* <br> */
    DG_HTML_PROTECTED, /* a whole element that stays as it is; `inner` is between its tags */
    DG_HTML_VALUE,     /* a text attribute within the event before it */
};

struct dg_html_event {
    enum dg_html_kind kind;
    size_t begin, end;
    size_t inner, inner_end;
    /* of a value */
    enum dg_encoding encoding;
    /* the text after it: not for translation; its line ends mean something */
    bool quiet, lines;
    /* in the tree's order */
    size_t sequence;
};

struct dg_html_events {
    /* [n] by their begin */
    struct dg_html_event *list;
    size_t n, cap;
};

/* Zeroed before; to be closed in every case. DG_ELIMIT (field text): it would take too much memory
 * or time, as thousands of tags that are never closed do. DG_ENOMEM. */
int dg_html_parse(const char *s, size_t n, const struct dg_markup *markup,
    struct dg_html_events *out, struct dg_error *err);
void dg_html_events_close(struct dg_html_events *e);

#endif
