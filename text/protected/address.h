/* Addresses in running text: web, e-mail and host addresses; names of accounts and of files. Any
 * thread. */
#ifndef DG_TEXT_PROTECTED_ADDRESS_H
#define DG_TEXT_PROTECTED_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if names have this character: a letter of Latin script, a digit or "_"; also "×", "ǃ". */
bool dg_address_is_letter(int32_t c);

/* Each function below returns the end of the address that starts at byte `at` of s, reading at most
 * to `end`; `at` if none starts there. The byte before `at` must not be part of a word. */

/* https://…, www.…, mailto:…, localhost:8080, 10.0.0.1:80/x, doi:…, 10.1000/x: without a full stop
 * or other punctuation after it. */
size_t dg_address_web(const char *s, size_t at, size_t end);
/* anna.b+c@example.org */
size_t dg_address_mail(const char *s, size_t at, size_t end);
/* <anna@example.org>, <https://example.org>: either with its brackets; any byte may precede it */
size_t dg_address_bracketed(const char *s, size_t at, size_t end);
/* config.txt, src/main.c, /etc/hosts, ~/x, C:\x\y, example.org/x */
size_t dg_address_file(const char *s, size_t at, size_t end);
/* @name, #name */
size_t dg_address_account(const char *s, size_t at, size_t end);

#endif
