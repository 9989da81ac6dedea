/* Adds the strings of programs, which all kinds of their files share (strings/, xml/): a reader
 * finds where a string is and how it is escaped (escapes.h; YAML: yaml_scalar.h). Here it becomes a
 * text, or those of an ICU message's forms (forms/), unless it has no words. write.c writes the
 * answer over the same bytes with the same escapes; what is around it in a file of both languages
 * is the segment's `before` and `after`. The name of the target language, and its plural forms, are
 * bytes that follow a translation: dg_segment_add_bytes. Only for documents/. One thread at a time.
 */
#ifndef DG_DOCUMENTS_STRINGS_PROGRAM_STRING_H
#define DG_DOCUMENTS_STRINGS_PROGRAM_STRING_H

#include "documents/segments.h"

/* Add a segment like `like`, with the text that a string of the file says, unless it has no words
 * or is a pattern of dates; of an ICU message, the sentences of its forms, in segments that follow
 * it, unless it stays as it is. *added, if not NULL: the segment, where what is written before and
 * after it is set; NULL: there is none. Invalidates pointers to earlier segments. DG_ELIMIT,
 * DG_ENOMEM. */
int dg_program_string_add(struct dg_extract *x, struct dg_extract_part *p, struct dg_segment like,
    const struct dg_buffer *text, struct dg_segment **added, struct dg_error *err);

/* The same for the string that bytes `at` of the file are, with these escapes. */
int dg_program_string_add_escaped(struct dg_extract *x, struct dg_extract_part *p,
    struct dg_span at, const struct dg_markup *markup, enum dg_escapes escapes,
    struct dg_error *err);

/* Find the byte after the string in quotation marks that begins at byte `at`, with backslashes
 * before those within it. DG_EINVAL (field file): it does not end. */
int dg_program_string_end(
    const struct dg_extract_part *p, size_t at, size_t *end, struct dg_error *err);

/* As dg_program_string_add, for a string that is not an ICU message. */
int dg_program_string_add_text(struct dg_extract *x, struct dg_extract_part *p,
    struct dg_segment like, const struct dg_buffer *text, struct dg_segment **added,
    struct dg_error *err);

#endif
