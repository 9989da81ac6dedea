/* Documents -> units of running text to translate, each one line, and marks: everything else that
 * is within a unit's bytes, to be put back around the translation. A reader for each format
 * (wrapped.c, srt.c, markdown.c, html/, xml/) makes both; translate/layout puts the marks back, for
 * every format alike. Any thread.
 *
 *   > Run `make` in **the
 *   > shell**.
 *
 * is one unit. Its text is "Run make in the shell.", and its marks are, with `at` and `len` in that
 * text and the bytes of the document that each of them is:
 *
 *   PROTECTED  at 4, len 4   `make`      returned unchanged where the model writes "make"
 *   OPEN       at 12         **          id 1: encloses ...
 *   BREAK      at 15, len 1  \n> (and the blank after it)
 *   CLOSE      at 21         **          ... what came from "the shell"
 *
 * Every byte of the document is in a unit's text, in a mark or between units: a document whose
 * units are not translated comes back byte for byte. The bytes of a mark may hold units of their
 * own, such as an image's alternative text or a link's title: these are inner units. */
#ifndef DG_TEXT_FORMAT_DOCUMENT_H
#define DG_TEXT_FORMAT_DOCUMENT_H

#include "base/buffer.h"
#include "base/error.h"
#include "text/alphabet.h"
#include "text/format/encoding.h"
#include "text/format/markup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dg_format {
    DG_FORMAT_TEXT, /* line ends end sentences (text/split.h): one unit, the whole text */
    /* lines of a paragraph are one text; blank lines, bullets and indents end it */
    DG_FORMAT_WRAPPED,
    DG_FORMAT_SRT, /* subtitles, SubRip or WebVTT: numbers and times stay, each cue is a text */
    DG_FORMAT_MARKDOWN, /* CommonMark, and GitHub's tables */
    DG_FORMAT_HTML,     /* a page, or a part of one */
    DG_FORMAT_XML,      /* of any kind */
};

enum dg_mark_kind {
    /* white space that is written otherwise: a line's end with the next line's indent; the text
     * has a space there */
    DG_MARK_BREAK,
    /* something at a point between words, such as <br> or an image; nothing in the text */
    DG_MARK_POINT,
    DG_MARK_OPEN,  /* the start of what `id` encloses, such as "[" or "**"; nothing in the text */
    DG_MARK_CLOSE, /* its end, such as "](address)" */
    /* a protected span (text/protected.h, `code`): comes back exactly once, byte for byte. The
     * text has (the first of) its letters, for the model to see */
    DG_MARK_PROTECTED,
    /* an escaped character such as "\*" or "&eacute;": the text has the character, and the answer
     * gets the same escape */
    DG_MARK_ESCAPE,
};

struct dg_mark {
    enum dg_mark_kind kind;
    /* bytes of the document's `text` that represent it */
    size_t at, len;
    /* bytes of the document that it is */
    size_t begin, end;
    /* of OPEN and CLOSE, from 1: the same for both; else 0 */
    uint32_t id;
};

struct dg_unit {
    /* bytes of the document's `text` */
    size_t at, end;
    /* its first byte in the document */
    size_t source;
    /* its marks, in order */
    size_t mark, n_marks;
    /* how an answer is written there; the unit's own text is so already */
    enum dg_encoding encoding;
};

struct dg_document {
    /* the units' texts, with nothing between them */
    struct dg_buffer text;
    /* [n_units] in the order of the document, but that inner units follow the one they are in */
    struct dg_unit *units;
    size_t n_units, units_cap;
    /* [n_marks] */
    struct dg_mark *marks;
    size_t n_marks, marks_cap;
    /* given to pairs so far */
    uint32_t ids;
    /* of plain text: it looks like HTML */
    bool is_markup;
    /* see struct dg_document_kind */
    const struct dg_alphabet *known;
    int (*check)(const void *arg, struct dg_error *err);
    const void *check_arg;
    /* while it is read: what check said when it ended the reading, and where its error goes */
    int ended;
    struct dg_error *err;
};

/* The names of the formats in the enum's order, NULL-ended. */
extern const char *const dg_format_names[];
/* False: not an escape. */
bool dg_format_find(const char *name, enum dg_format *out);

struct dg_document_kind {
    enum dg_format format;
    /* how tags of HTML and XML are taken; NULL: as is usual */
    const struct dg_markup *markup;
    /* of the model: other words and signs are protected spans; NULL: none are */
    const struct dg_alphabet *known;
    /* Asked now and then in a long text: whether anybody still waits for it. NULL: somebody does.
     */
    int (*check)(const void *arg, struct dg_error *err);
    const void *check_arg;
};

/* Take source[n] (valid UTF-8) apart; what kind points to stays the caller's, and is read until the
 * document is closed. DG_ENOMEM; DG_ELIMIT (field text): HTML that would take too much memory or
 * time; DG_EINVAL (field text): XML that is not well-formed; check's error. */
int dg_document_read(const char *source, size_t n, const struct dg_document_kind *kind,
    struct dg_document *out, struct dg_error *err);
/* The same for any model. */
int dg_document_open_markup(const char *source, size_t n, enum dg_format format,
    const struct dg_markup *markup, struct dg_document *out, struct dg_error *err);
/* The same without markup. */
int dg_document_open(const char *source, size_t n, enum dg_format format, struct dg_document *out,
    struct dg_error *err);
void dg_document_close(struct dg_document *d); /* a zeroed one is fine */

/* How many of u's marks begin before byte `at` of the text. */
size_t dg_document_marks_before(const struct dg_document *d, const struct dg_unit *u, size_t at);

/* The document's byte for byte `at` of the text, within unit u; after: after the marks without
 * letters at that byte. */
size_t dg_document_source(
    const struct dg_document *d, const struct dg_unit *u, size_t at, bool after);

#endif
