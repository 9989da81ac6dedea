/* Documents -> blocks of running text to translate, each one line: what a format says by lines,
 * marks and codes is set apart as insets, to be put back around the translation. Every byte of the
 * document is in a block's text, in an inset or between blocks. Any thread. */
#ifndef DG_TEXT_FORMAT_DOCUMENT_H
#define DG_TEXT_FORMAT_DOCUMENT_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dg_format {
    DG_FORMAT_TEXT, /* line ends end sentences (text/split.h) */
    /* lines of a paragraph are one text; blank lines, bullets and indents end it */
    DG_FORMAT_WRAPPED,
    DG_FORMAT_SRT, /* subtitles, SubRip or WebVTT: numbers and times stay, each cue is a text */
    DG_FORMAT_MARKDOWN,
};

enum dg_inset_kind {
    /* a line's end within running text, with the indent behind it: a space there */
    DG_INSET_BREAK,
    DG_INSET_MARK,    /* a code that stands at a place, such as <br>; nothing there */
    DG_INSET_OPEN,    /* begin of what `pair` encloses, such as "[" or "**" */
    DG_INSET_CLOSE,   /* its end, such as "](address)" */
    DG_INSET_VERBATIM /* kept as it is: `code`, an address; (the begin of) its letters there, for
                         the model to see */
};

struct dg_inset {
    enum dg_inset_kind kind;
    size_t at, len;    /* bytes of `flat` that it gives */
    size_t begin, end; /* bytes of the document that it is */
    uint32_t pair;     /* of OPEN and CLOSE, from 1 */
};

struct dg_block {
    size_t at, end; /* bytes of `flat` */
    size_t source;  /* byte of the document where it begins */
    size_t inset, n_insets;
};

struct dg_document {
    struct dg_buffer flat; /* the blocks' texts, with nothing between them */
    struct dg_block *blocks;
    size_t n_blocks, blocks_cap;
    struct dg_inset *insets; /* in order */
    size_t n_insets, insets_cap;
    uint32_t pairs;
};

/* The names of the formats in the enum's order, NULL-ended. */
extern const char *const dg_format_names[];
/* False: none of these. */
bool dg_format_find(const char *name, enum dg_format *out);

/* Take text[n] (valid UTF-8) apart; not DG_FORMAT_TEXT. */
int dg_document_open(const char *text, size_t n, enum dg_format format, struct dg_document *out,
    struct dg_error *err);
void dg_document_close(struct dg_document *l); /* a zeroed one is fine */

/* Bytes of something verbatim, s[n], that the flat text gets: a long address would be all there is
 * of a sentence. */
size_t dg_inset_shown(const char *s, size_t n);

/* How many of b's insets begin before byte `at` of flat. */
size_t dg_document_before(const struct dg_document *l, const struct dg_block *b, size_t at);

/* The document's byte for byte `at` of flat, within block b; behind: behind the insets that lie
 * there. */
size_t dg_document_source(
    const struct dg_document *l, const struct dg_block *b, size_t at, bool behind);

#endif
