/* Extracts the texts of a file, and writes the file with their translations. A file is split into
 * segments: each has a text for the translator, with its format, and the bytes that the translation
 * replaces. The rest of the file is never rewritten. Each kind of file has a reader that makes the
 * segments (kinds.c).
 *
 *   bytes --open--> texts --(translator)--> answers --write--> bytes
 *
 * If every answer equals its text, the file comes back byte for byte, except for kinds that hold
 * both languages (PO, XLIFF, .ts, .xcstrings), whose empty targets are filled. Limits: DG_ELIMIT if
 * a file is larger, or unpacks to more, than they allow. Const after open: any thread. */
#ifndef DG_DOCUMENTS_EXTRACT_H
#define DG_DOCUMENTS_EXTRACT_H

#include "base/buffer.h"
#include "base/error.h"
#include "text/format/document.h"

struct dg_extract;

struct dg_extract_limits {
    /* maximum bytes of the file */
    size_t file_bytes;
    /* maximum bytes of all unpacked members with text, for a packed file */
    size_t unpacked_bytes;
    /* maximum tags ("<") of one of them: in memory, a tag has 56 bytes */
    size_t tags;
    size_t texts;
    /* maximum bytes of all texts together */
    size_t text_bytes;
};
extern const struct dg_extract_limits dg_extract_limits_default;

struct dg_extract_text {
    /* [n]; UTF-8 without U+0000 */
    const char *s;
    size_t n;
    enum dg_format format;
    /* how tags are treated, or NULL: the default */
    const struct dg_markup *markup;
};

/* Suffix i, with its dot, of the files that can be read; NULL: there are no more. */
const char *dg_extract_suffix_at(size_t i);
/* The one of these that a file name has, or NULL. */
const char *dg_extract_suffix(const char *name);
/* Set err to DG_EUNSUP (field file): this kind of file is not supported, and which ones are. */
int dg_extract_unknown(const char *name, struct dg_error *err);
/* True if files with this name's suffix are packed (Office, EPUB): their bytes are no text. */
bool dg_extract_packed(const char *name);
/* True if a translation of the file `in` may have the name `out`, since no kind becomes another. */
bool dg_extract_may_name(const char *in, const char *out);
/* The media type of files with that suffix. */
const char *dg_extract_media_type(const char *suffix);

/* Split a file into texts. The suffix of `name` tells its kind; bytes[n] are borrowed until x is
 * closed. target: code of the target language, which some kinds of files record. DG_EUNSUP (field
 * file): unknown kind; DG_EINVAL (field file): broken, with the place; DG_ELIMIT (field file);
 * DG_ENOMEM. */
int dg_extract_open(const char *name, const char *bytes, size_t n, const char *target,
    const struct dg_extract_limits *limits, struct dg_extract **out, struct dg_error *err);
void dg_extract_close(struct dg_extract *x); /* NULL is fine */

size_t dg_extract_count(const struct dg_extract *x);
/* Text i, borrowed from x. */
void dg_extract_text(const struct dg_extract *x, size_t i, struct dg_extract_text *out);

struct dg_extract_answer {
    /* [n] */
    const char *s;
    size_t n;
};

/* Append the file with these answers, in the order of its texts. DG_EINVAL: an answer has a tag
 * that its text does not, or unbalanced tags; DG_ELIMIT: the formatting that its words repeat
 * exceeds what is written: twice limits.unpacked_bytes. */
int dg_extract_write(const struct dg_extract *x, const struct dg_extract_answer *answers,
    struct dg_buffer *out, struct dg_error *err);

/* ICU messages that stay as they are. */
struct dg_extract_stays {
    size_t n;
    /* of one of them: its line, and why, a sentence about "it" */
    size_t line;
    char why[96];
};
/* Find those of the file that is written with these answers. */
void dg_extract_stays(const struct dg_extract *x, const struct dg_extract_answer *answers,
    struct dg_extract_stays *out);

#endif
