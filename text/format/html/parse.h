/* Parses HTML with libgumbo into a list of its tags, and of attributes within them, in byte order.
 * The bytes between two of these are text. Any thread. Only for text/format/html. */
#ifndef DG_TEXT_FORMAT_HTML_PARSE_H
#define DG_TEXT_FORMAT_HTML_PARSE_H

#include "base/error.h"
#include "text/format/document.h"

enum dg_html_kind {
    DG_HTML_BLOCK, /* ends a sentence; a tag that was omitted has no bytes */
    DG_HTML_OPEN,  /* an inline tag */
    DG_HTML_CLOSE,
    DG_HTML_POINT,     /* an image, a comment, a whole <script> */
    DG_HTML_LINE_END,  /* <br> */
    DG_HTML_PROTECTED, /* a whole element that stays as it is; `inner` is between its tags */
    DG_HTML_VALUE,     /* a text attribute within the event before it */
};

struct dg_html_event {
    enum dg_html_kind kind;
    size_t begin, end;
    size_t inner, inner_end;
    /* encoding of a value */
    enum dg_encoding encoding;
    /* for the text after it: it is not translated; its line ends are significant */
    bool quiet, lines;
    /* position in the order of the tree */
    size_t sequence;
};

struct dg_html_events {
    /* [n] sorted by begin */
    struct dg_html_event *list;
    size_t n, cap;
};

/* *out must be zeroed before, and closed in every case. DG_ELIMIT (field text): parsing would take
 * too much memory or time, as with thousands of tags that are never closed. DG_ENOMEM. */
int dg_html_parse(const char *s, size_t n, const struct dg_markup *markup,
    struct dg_html_events *out, struct dg_error *err);
void dg_html_events_close(struct dg_html_events *e);

#endif
