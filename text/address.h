/* Addresses in running text: of the web, of e-mail, of machines; names of accounts and of files.
 * Only for text/. Any thread. */
#ifndef DG_TEXT_ADDRESS_H
#define DG_TEXT_ADDRESS_H

#include <stddef.h>

/* The end of the address that starts at byte `at` of s, reading at most to `end`; `at` if none
 * starts there. The byte before is part of no word. */

/* https://…, www.…, mailto:…, localhost:8080, 10.0.0.1:80/x: without a full stop and the like after
 * it. */
size_t dg_address_web(const char *s, size_t at, size_t end);
/* anna.b+c@example.org */
size_t dg_address_mail(const char *s, size_t at, size_t end);
/* config.txt, src/main.c, /etc/hosts, ~/x, C:\x\y, example.org/x */
size_t dg_address_file(const char *s, size_t at, size_t end);
/* @name */
size_t dg_address_account(const char *s, size_t at, size_t end);

#endif
