/* Positions of Markdown's marks. md4c gives bytes for running text only, so a cursor goes from text
 * to text and finds the marks between two texts by their characters. One thread at a time. Only for
 * text/format.
 *
 *   events   ENTER strong   TEXT 2..5   LEAVE strong   HARD BREAK   TEXT 11..14
 *   bytes    **             abc         **             \n> (and white space)
 *
 * The last text's begin bounds the break and the second "**". */
#ifndef DG_TEXT_FORMAT_MARKDOWN_CURSOR_H
#define DG_TEXT_FORMAT_MARKDOWN_CURSOR_H

#include "text/format/link.h"
#include "text/format/markdown_unit.h"

struct dg_md_cursor {
    /* [n] the source */
    const char *s;
    size_t n;
    /* [end] */
    const struct dg_md_event *list;
    /* index of the current event */
    size_t i, end;
    /* bytes before it are written */
    size_t at;
    /* [end + 1] start of the next text after each event, or n */
    size_t *bounds;
};

/* The caller sets s, n, list and end. False: out of memory. */
bool dg_md_cursor_init(struct dg_md_cursor *c);
void dg_md_cursor_deinit(struct dg_md_cursor *c);

/* Start of the unit: before its first text, by the lengths of the marks in front of it. If an image
 * or link without text comes first, it is searched for from `floor` on. */
size_t dg_md_find_begin(const struct dg_md_cursor *c, size_t floor);
/* Position of the next of these signs from the cursor on, before the next text; the cursor's if
 * there is none. */
size_t dg_md_find_sign(const struct dg_md_cursor *c, const char *signs);
/* Characters that a pair may begin or end with; and the length in bytes of its opening mark at
 * s[at]. */
const char *dg_md_signs(enum dg_md_span span, bool opens);
size_t dg_md_length(const struct dg_md_cursor *c, enum dg_md_span span, size_t at);
/* Length of the run of characters equal to s[at]. */
size_t dg_md_run(const struct dg_md_cursor *c, size_t at);
/* Skips the white space of a line end, the "\" before it and the next line's prefix. */
size_t dg_md_skip_break(const struct dg_md_cursor *c);
/* Finds the end of a link or image whose text begins at `text` and whose "]" is at `at`, and its
 * label if that text is one. If text follows, the link ends where that begins. */
void dg_md_link_end(const struct dg_md_cursor *c, size_t text, size_t at, struct dg_link_end *out);

/* The end of the blanks at s[at] if there is a tab among them; else `at`. */
size_t dg_md_skip_tabs(const char *s, size_t at, size_t end);

/* True if the event is a single byte escaped by the byte before it, which is not written yet. */
bool dg_md_is_escaped(const struct dg_md_cursor *c, const struct dg_md_event *e);
/* The event that leaves what event i enters. */
size_t dg_md_leave(const struct dg_md_cursor *c, size_t i);

#endif
