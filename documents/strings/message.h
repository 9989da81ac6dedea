/* Messages with arguments: ICU's (forms/forms.h translates them); and Java's MessageFormat:
 * arguments such as {0} or {1,date,short}, '' for an apostrophe, and other braces in quotation:
 * '{'name'}'. Any thread. Only for documents/. */
#ifndef DG_DOCUMENTS_STRINGS_MESSAGE_H
#define DG_DOCUMENTS_STRINGS_MESSAGE_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* True if s[n] may be a message of ICU with an argument that has words: "{n, plural,". */
bool dg_message_has_words(const char *s, size_t n);

/* True if s[n] has an argument with a number: nothing else tells a message from other strings. */
bool dg_message_is(const char *s, size_t n);
/* Append the message s[n] as it is read, its arguments as they are written; false: it cannot be
 * translated, because its arguments cannot be told from quoted braces, or one does not end or is
 * very long, or it has too many. An apostrophe that is neither doubled nor before a brace stands
 * for itself, as in ICU. */
bool dg_message_read(const char *s, size_t n, struct dg_buffer *out);
/* Append text[n_text], a translation of what dg_message_read made of s[n], as a message. */
void dg_message_write(
    const char *s, size_t n, const char *text, size_t n_text, struct dg_buffer *out);

#endif
