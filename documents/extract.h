/* The texts of a file, and the file with their translations. A file is split into segments: each is
 * a text for the translator with its format, and the bytes that its translation replaces. The rest
 * of the file is never rewritten. A reader for each kind of file makes them (kinds.c).
 *
 *   bytes --open--> texts --(translator)--> answers --write--> bytes
 *
 * Where every answer is the text that was asked about, the file comes back byte for byte, but for
 * kinds that hold both languages (PO, XLIFF), whose empty targets are filled. Limits: DG_ELIMIT if
 * a file is larger, or unpacks to more, than they allow. Const after open: any thread. */
#ifndef DG_DOCUMENTS_EXTRACT_H
#define DG_DOCUMENTS_EXTRACT_H

#include "base/buffer.h"
#include "base/error.h"
#include "text/format/document.h"

struct dg_extract;

struct dg_extract_limits {
    /* of the file */
    size_t file_bytes;
    /* of all members with text together, of one that is packed */
    size_t unpacked_bytes;
    size_t texts;
    /* of all texts together */
    size_t text_bytes;
};
extern const struct dg_extract_limits dg_extract_limits_default;

struct dg_extract_text {
    /* [n]; UTF-8 without U+0000 */
    const char *s;
    size_t n;
    enum dg_format format;
    /* or NULL */
    const struct dg_markup *markup;
};

/* The suffixes of the files that can be read, with their dots, NULL-ended. */
extern const char *const dg_extract_suffixes[];
/* The suffix of a name among them, or NULL. */
const char *dg_extract_suffix(const char *name);
/* The media type of files of that kind. */
const char *dg_extract_media_type(const char *suffix);

/* Take a file apart, which its name's suffix says the kind of; bytes[n] are borrowed. DG_EUNSUP
 * (field file): no such kind; DG_EINVAL (field file): it is broken, and where; DG_ELIMIT (field
 * file); DG_ENOMEM. */
int dg_extract_open(const char *name, const char *bytes, size_t n,
    const struct dg_extract_limits *limits, struct dg_extract **out, struct dg_error *err);
void dg_extract_close(struct dg_extract *x); /* NULL is fine */

size_t dg_extract_count(const struct dg_extract *x);
/* Borrowed from x. */
void dg_extract_text(const struct dg_extract *x, size_t i, struct dg_extract_text *out);

struct dg_extract_answer {
    /* [n] */
    const char *s;
    size_t n;
};

/* Append the file with these answers to its texts, in the texts' order. target: the language's
 * code, which some kinds of files say. DG_EINVAL: an answer is no longer what its text was, such as
 * a tag that is missing. */
int dg_extract_write(const struct dg_extract *x, const struct dg_extract_answer *answers,
    const char *target, struct dg_buffer *out, struct dg_error *err);

#endif
