/* Builds one unit of Markdown from md4c's events, which have bytes for running text only: a cursor
 * (markdown_cursor.h) finds those of the marks between. Any thread. Only for text/format. */
#ifndef DG_TEXT_FORMAT_MARKDOWN_UNIT_H
#define DG_TEXT_FORMAT_MARKDOWN_UNIT_H

#include "text/format/internal.h"

enum dg_md_kind {
    DG_MD_TEXT,
    DG_MD_ENTITY, /* "&amp;" */
    DG_MD_KEPT,   /* what stays; `title`: the bytes that the model sees of it */
    DG_MD_OPEN,   /* a pair of a dialect opens (markdown_spans.h) */
    DG_MD_CLOSE,
    DG_MD_HTML,       /* one or several tags, perhaps over several lines */
    DG_MD_CODE,       /* `code`: its first and last letters, when md4c gave any */
    DG_MD_SOFT_BREAK, /* a line's end within a paragraph; no bytes */
    DG_MD_HARD_BREAK, /* a line end that is shown; no bytes */
    DG_MD_ENTER,      /* a pair opens; no bytes */
    DG_MD_LEAVE,
};

enum dg_md_span { DG_MD_EMPHASIS, DG_MD_STRONG, DG_MD_STRIKE, DG_MD_LINK, DG_MD_IMAGE };

struct dg_md_event {
    enum dg_md_kind kind;
    /* of ENTER and LEAVE */
    enum dg_md_span span;
    /* bytes of the source; SIZE_MAX: unknown to md4c */
    size_t begin, end;
    /* when a link or image is left: its title, if md4c gives bytes for it; see KEPT */
    size_t title[2];
};

bool dg_md_is_break(const struct dg_md_event *e);

struct dg_md_events {
    struct dg_md_event *list;
    size_t n, cap;
    bool failed;
    /* they are those of a table's cell */
    bool cell;
};

/* Titles of links' definitions, each of which many links may share. */
struct dg_md_titles {
    struct dg_document units;
    /* [n] true if a title that begins at this byte of the source is in `units`; NULL: none is */
    bool *seen;
};

/* Add the unit of events e to d (several units, if it has hard line breaks), with its inner units
 * after it. The unit begins at byte `floor` or later. Returns the byte where it ends. */
size_t dg_markdown_unit(struct dg_document *d, const char *s, size_t n,
    const struct dg_md_events *e, size_t floor, struct dg_md_titles *titles);

#endif
