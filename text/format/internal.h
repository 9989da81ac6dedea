/* How the formats' readers build a layout. For text/ alone. */
#ifndef DG_TEXT_FORMAT_INTERNAL_H
#define DG_TEXT_FORMAT_INTERNAL_H

#include "text/format/document.h"

/* One line: s[begin, end) without its end mark, next: where the following one begins. */
struct dg_line {
    size_t begin, end, next;
};

/* The line at `at`; false at the end of the text. */
bool dg_line_at(const char *s, size_t n, size_t at, struct dg_line *out);
/* Behind spaces and tabs from `at` on. */
size_t dg_line_skip_blanks(const char *s, size_t at, size_t end);
/* Behind the white space that a line begins with; its end when there is nothing else. */
size_t dg_line_indent(const char *s, const struct dg_line *l);
bool dg_line_is_blank(const char *s, const struct dg_line *l);

/* A block of bytes that follow one another: text and insets up to the end. Without memory the
 * layout's buffer fails. */
void dg_document_begin(struct dg_document *l, size_t source);
void dg_document_text(struct dg_document *l, const char *s, size_t begin, size_t end);
void dg_document_inset(struct dg_document *l, struct dg_inset inset, const char *flat);
void dg_document_end(struct dg_document *l); /* one without text is dropped */

enum dg_marks { DG_MARKS_NONE, DG_MARKS_TAGS, DG_MARKS_MARKDOWN };

/* A paragraph while its lines are collected. Zeroed: none. */
struct dg_paragraph {
    bool open;
    size_t begin, end;
    size_t (*breaks)[2]; /* [n]: from the end of a line's text to the begin of the next one's */
    size_t n, cap;
    bool failed;
};

/* The text of one more line, s[begin, end) but for white space at its end; empty ones count not. */
void dg_paragraph_add(struct dg_paragraph *p, const char *s, size_t begin, size_t end);
/* Make a block of it, if it is open. */
void dg_paragraph_end(
    struct dg_paragraph *p, struct dg_document *l, const char *s, enum dg_marks marks);
void dg_paragraph_deinit(struct dg_paragraph *p, struct dg_document *l);

/* The readers. */
void dg_document_wrapped(struct dg_document *l, const char *s, size_t n);
void dg_document_srt(struct dg_document *l, const char *s, size_t n);
void dg_document_markdown(struct dg_document *l, const char *s, size_t n);
/* A paragraph's text with the marks in it, as part of the block begun. */
void dg_document_inline(
    struct dg_document *l, const char *s, const struct dg_paragraph *p, enum dg_marks marks);

#endif
