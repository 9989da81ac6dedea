/* Placeholders that only program strings have. Only for text/. Any thread. */
#ifndef DG_TEXT_PLACEHOLDER_PROGRAM_H
#define DG_TEXT_PLACEHOLDER_PROGRAM_H

#include <stddef.h>

/* Finds a placeholder of program strings: $1 and $$5 of MediaWiki and Chrome, %1 and %L1 of Qt,
 * %Y of dates, ~s of Lisp and Erlang, !name of Drupal, long options of commands, --name, and
 * [1,19] of Laravel's plural forms. Returns the end of the first that begins in s[from, until),
 * reading no further than `end`; 0: none does. */
size_t dg_placeholder_program_next(
    const char *s, size_t from, size_t until, size_t end, size_t *begin);

#endif
