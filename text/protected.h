/* What stays as it is in running text, whatever the language: addresses of the web (https://…,
 * www.…) and of e-mail, names of accounts (@name) and of files (config.txt), placeholders (%s,
 * %1$d, {name}, ${name}) and emoji. Text is valid UTF-8. Any thread. */
#ifndef DG_TEXT_PROTECTED_H
#define DG_TEXT_PROTECTED_H

#include <stddef.h>

/* The first such thing that begins at byte `from` of s[n] or later: *begin, and its end; 0: there
 * is none. */
size_t dg_protected_next(const char *s, size_t n, size_t from, size_t *begin);

/* The end of the web address that begins at byte `at`, without a full stop and the like behind it;
 * `at`: none does. stop: two signs that end it, too, or NULL. */
size_t dg_protected_address(const char *s, size_t at, size_t end, const char *stop);

#endif
