/* Splits a document into units of running text to translate, each one line, and marks: everything
 * else within a unit's bytes, to be put back around the translation. Each format has a reader
 * (plain.c, wrapped.c, srt.c, markdown.c, html/, xml/); translate/layout puts the marks back, in
 * the same way for every format. Any thread.
 *
 *   > Run `make` in **the
 *   > shell**.
 *
 * is one unit. Its text is "Run make in the shell."; its marks, with `at` and `len` in that text
 * and the bytes of the document that they represent, are:
 *
 *   PROTECTED  at 4, len 4   `make`      put back where the model writes "make"
 *   OPEN       at 12         **          id 1: encloses ...
 *   BREAK      at 15, len 1  \n> (and the blank after it)
 *   CLOSE      at 21         **          ... the translation of "the shell"
 *
 * Every byte of the document is in a unit's text, in a mark or between units: a document whose
 * units are not translated comes back byte for byte. The bytes of a mark may hold units of their
 * own, such as an image's alternative text or a link's title: these are inner units. */
#ifndef DG_TEXT_FORMAT_DOCUMENT_H
#define DG_TEXT_FORMAT_DOCUMENT_H

#include "base/buffer.h"
#include "base/error.h"
#include "text/protected/alphabet.h"
#include "text/format/encoding.h"
#include "text/format/markup.h"
#include "text/sentences/split.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dg_format {
    DG_FORMAT_TEXT, /* line ends end sentences (text/sentences/split.h): one unit, the whole text */
    /* a paragraph's lines are one unit; blank lines, bullets and indents end it */
    DG_FORMAT_WRAPPED,
    DG_FORMAT_SRT, /* subtitles, SubRip or WebVTT: numbers and times stay, each cue is a unit */
    DG_FORMAT_MARKDOWN, /* CommonMark, and GitHub's tables */
    DG_FORMAT_HTML,     /* a page, or a part of one */
    DG_FORMAT_XML,      /* of any kind */
};

enum dg_mark_kind {
    /* white space written differently: a line end with the next line's indent; the text has a space
     * there */
    DG_MARK_BREAK,
    /* something at a point between words, such as <br> or an image; nothing in the text */
    DG_MARK_POINT,
    DG_MARK_OPEN,  /* the start of what `id` encloses, such as "[" or "**"; nothing in the text */
    DG_MARK_CLOSE, /* its end, such as "](address)" */
    /* a protected span (text/protected/protected.h, `code`): comes back exactly once, byte for
     * byte. The text has (the first of) its letters, for the model to see */
    DG_MARK_PROTECTED,
    /* an escaped character such as "\*" or "&eacute;": the text has the character, and the answer
     * gets the same escape */
    DG_MARK_ESCAPE,
};

struct dg_mark {
    enum dg_mark_kind kind;
    /* bytes of the document's `text` that represent it */
    size_t at, len;
    /* bytes of the document that it represents */
    size_t begin, end;
    /* OPEN and CLOSE: the pair's number, from 1; else 0 */
    uint32_t id;
    /* the end of a link or an image of Markdown whose text is also its definition's label: the
     * label, with the "]" or "][]" of this mark after it. A translated text is no label: "][label]"
     * is written then. Else 0, 0 */
    struct dg_span label;
};

enum dg_tag_kind { DG_TAG_COMMENT, DG_TAG_CDATA, DG_TAG_INSTRUCTION, DG_TAG_NAMED, DG_TAG_KINDS };

struct dg_unit {
    /* bytes of the document's `text` */
    size_t at, end;
    /* its first byte in the document */
    size_t source;
    /* index of its first mark; number of its marks, in order */
    size_t mark, n_marks;
    /* how an answer is written there; the unit's own text needs no encoding, because its escaped
     * characters are marks */
    enum dg_encoding encoding;
};

/* Bytes from..end of the source lack what ends a tag of some kind. */
struct dg_tag_none {
    size_t from, end;
};

/* What searches for the ends of tags did not find (tag_end.c). */
struct dg_tag_search {
    struct dg_tag_none none[DG_TAG_KINDS];
    /* [end - begin] true: a tag that has this byte outside its values does not end before byte
     * `end`; NULL: nothing is known */
    bool *endless;
    size_t begin, end;
};

/* Zeroed: without units. */
struct dg_document {
    /* the units' texts, with nothing between them */
    struct dg_buffer text;
    /* [n_units] in the order of the document, except that inner units follow the unit that contains
     * them */
    struct dg_unit *units;
    size_t n_units, units_cap;
    /* [n_marks] */
    struct dg_mark *marks;
    size_t n_marks, marks_cap;
    /* number of pair ids given so far */
    uint32_t ids;
    /* plain text that looks like HTML or XML */
    bool is_markup;
    /* a program's string (struct dg_markup) */
    bool is_program;
    /* see struct dg_document_kind */
    const struct dg_alphabet *known;
    int (*check)(const void *arg, struct dg_error *err);
    const void *check_arg;
    /* while reading: check's error code, if it ended the reading, and where its error goes */
    int ended;
    struct dg_error *err;
    struct dg_tag_search tags;
};

/* Names of the formats in the enum's order, NULL-terminated. */
extern const char *const dg_format_names[];
/* Find a format by name; false: there is none. */
bool dg_format_find(const char *name, enum dg_format *out);

struct dg_document_kind {
    enum dg_format format;
    /* how tags of HTML and XML are treated; NULL: the default */
    const struct dg_markup *markup;
    /* the model's alphabet: other words and signs are protected spans; NULL: none are */
    const struct dg_alphabet *known;
    /* Called from time to time while a long text is read; a nonzero return ends the reading with
     * check's error. NULL: none. */
    int (*check)(const void *arg, struct dg_error *err);
    const void *check_arg;
};

/* Split source[n] (valid UTF-8) into units and marks. What `kind` points to stays the caller's and
 * must outlive the document. DG_ENOMEM; DG_ELIMIT (field text): HTML that would take too much
 * memory or time; DG_EINVAL (field text): XML that is not well-formed; check's error. */
int dg_document_read(const char *source, size_t n, const struct dg_document_kind *kind,
    struct dg_document *out, struct dg_error *err);
/* The same without a model's alphabet and without a check. */
int dg_document_open_markup(const char *source, size_t n, enum dg_format format,
    const struct dg_markup *markup, struct dg_document *out, struct dg_error *err);
/* The same without markup. */
int dg_document_open(const char *source, size_t n, enum dg_format format, struct dg_document *out,
    struct dg_error *err);
void dg_document_close(struct dg_document *d); /* a zeroed one is fine */

/* Number of u's marks that begin before byte `at` of the text. */
size_t dg_document_marks_before(const struct dg_document *d, const struct dg_unit *u, size_t at);

/* The document's byte for byte `at` of the text, within unit u. after: past marks that show no text
 * at that byte, else before them. */
size_t dg_document_source(
    const struct dg_document *d, const struct dg_unit *u, size_t at, bool after);

#endif
