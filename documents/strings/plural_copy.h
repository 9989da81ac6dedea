/* Plural forms that a file lacks: each gets the words of `other`, of which a file of program
 * strings has a value. Only for documents/. One thread at a time. */
#ifndef DG_DOCUMENTS_STRINGS_PLURAL_COPY_H
#define DG_DOCUMENTS_STRINGS_PLURAL_COPY_H

#include "documents/segments.h"

/* A value that is copied. */
struct dg_plural_copy {
    /* its bytes, with quotation marks; end 0: there is none */
    struct dg_span value;
    /* its segment; n_segments: there is none, because nothing in it is translated */
    size_t segment, n_segments;
};

/* Note the value of `other`, whose segments began with p->segments[first]. */
void dg_plural_copy_note(
    struct dg_plural_copy *c, const struct dg_extract_part *p, struct dg_span value, size_t first);

/* Append the white space before byte `at` of s, such as a line end and an indentation. */
void dg_plural_copy_space(const char *s, size_t at, struct dg_buffer *out);

/* Add a copy at byte `at` of the part: `before`, which is taken, and the translation of the value
 * between two quotes, or the value itself. DG_ENOMEM, DG_ELIMIT. */
int dg_plural_copy_add(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_plural_copy *c, size_t at, struct dg_buffer *before, const char *quote,
    struct dg_error *err);

#endif
