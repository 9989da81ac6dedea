/* Patterns by which programs write dates and times, such as "dd/MM/yyyy HH:mm" of Java, Apple,
 * .NET, Moment and Unicode, and "%d %b %Y" of C, Python, PHP and Ruby. Any thread. Only for
 * documents/. */
#ifndef DG_DOCUMENTS_STRINGS_DATE_PATTERN_H
#define DG_DOCUMENTS_STRINGS_DATE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* True if s[n] is a pattern as a whole: its letters are fields, quoted ('T') or in brackets, and
 * one field has its letter twice or more, or a "%" before it. "Hmm" and "Add" are words. */
bool dg_date_pattern_is(const char *s, size_t n);

#endif
