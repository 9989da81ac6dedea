/* Functions by which the formats' readers build a document. Any thread. Only for text/format. */
#ifndef DG_TEXT_FORMAT_INTERNAL_H
#define DG_TEXT_FORMAT_INTERNAL_H

#include "text/format/document.h"

/* The readers: add the units of source s[n] to d. Out of memory: d->text fails, here and below. */
void dg_document_plain(struct dg_document *d, const char *s, size_t n);
void dg_document_wrapped(struct dg_document *d, const char *s, size_t n);
void dg_document_srt(struct dg_document *d, const char *s, size_t n);
void dg_document_markdown(struct dg_document *d, const char *s, size_t n);
/* These may fail for other reasons, too; the document must be closed in any case. */
int dg_document_html(struct dg_document *d, const char *s, size_t n, const struct dg_markup *markup,
    struct dg_error *err);
int dg_document_xml(struct dg_document *d, const char *s, size_t n, const struct dg_markup *markup,
    struct dg_error *err);

/* A unit is built by calls in the order of the source's bytes, each beginning where the previous
 * one ended: dg_document_begin at byte `source`, then text and marks, then dg_document_end, which
 * pairs tags, finds protected spans, and drops an empty unit. */
void dg_document_begin(struct dg_document *d, size_t source);
void dg_document_text(struct dg_document *d, const char *s, size_t begin, size_t end);
/* Adds a mark whose text is mark.len bytes of `shown`; mark.at is filled in. */
void dg_document_mark(struct dg_document *d, struct dg_mark mark, const char *shown);
/* Adds bytes mark[0]..mark[1] of s as a protected span, of which the model sees
 * letters[0]..letters[1]. */
void dg_document_protect(
    struct dg_document *d, const char *s, const size_t mark[2], const size_t letters[2]);
void dg_document_end(struct dg_document *d, const char *s);
/* dg_document_end for a unit whose answer is written in this encoding; one without a letter is
 * dropped. */
void dg_document_end_value(struct dg_document *d, const char *s, enum dg_encoding encoding);
/* Add all units of `more`, which were taken from the same source. */
void dg_document_append(struct dg_document *d, const struct dg_document *more);

/* Returns the byte after the tag, comment or declaration that begins with s[at] == '<'; `at` if
 * none does. Reading all of the document's source s by it takes linear time. */
size_t dg_tag_end(struct dg_document *d, const char *s, size_t at, size_t end);
/* Turns marks of the last unit, from `first` on, that are opening and closing tags of the same name
 * into pairs, if they nest properly with the existing pairs. Tags without a partner stay single. */
void dg_tags_pair(struct dg_document *d, const char *s, size_t first);

/* Returns the byte after the <br>s that begin at s[at], with blanks between them; `at` if none
 * does. */
size_t dg_line_skip_tags(struct dg_document *d, const char *s, size_t at, size_t end);
/* Adds them, s[begin, to), within a unit that goes on: as a space if there is none beside them. */
void dg_document_line_end(
    struct dg_document *d, const char *s, size_t begin, size_t to, size_t end);

/* One line s[begin, end), without its line end; next: start of the following line. */
struct dg_line {
    size_t begin, end, next;
};

/* The line at `at`; false at the end of the text. */
bool dg_line_at(const char *s, size_t n, size_t at, struct dg_line *out);
/* Skips spaces and tabs from `at` on; and returns the end of s[at, end) without trailing ones. */
size_t dg_line_skip_blanks(const char *s, size_t at, size_t end);
size_t dg_line_trim_blanks(const char *s, size_t at, size_t end);
/* Skips the line's leading white space; returns the line's end if there is nothing else. */
size_t dg_line_indent(const char *s, const struct dg_line *l);
bool dg_line_is_blank(const char *s, const struct dg_line *l);

/* A paragraph while its lines are collected. Zeroed: none. */
struct dg_paragraph {
    bool open;
    /* [n] begin and end of each line's text */
    size_t (*lines)[2];
    size_t n, cap;
    bool failed;
};

/* Adds the text of one more line, s[begin, end) without white space at its end; empty lines are
 * ignored. */
void dg_paragraph_add(struct dg_paragraph *p, const char *s, size_t begin, size_t end);
/* Makes a unit of the paragraph, if it is open. `write` adds the running text of one line. */
typedef void dg_paragraph_write(struct dg_document *d, const char *s, size_t begin, size_t end);
void dg_paragraph_end(
    struct dg_paragraph *p, struct dg_document *d, const char *s, dg_paragraph_write *write);
void dg_paragraph_deinit(struct dg_paragraph *p, struct dg_document *d);

#endif
