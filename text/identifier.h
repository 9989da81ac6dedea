/* Codes of letters and digits in running text: 9f86d081, INV-2024-00123. Only for text/. Any
 * thread. */
#ifndef DG_TEXT_IDENTIFIER_H
#define DG_TEXT_IDENTIFIER_H

#include <stddef.h>

/* Returns the end of the code that begins at byte `at` of s, reading no further than `end`; `at` if
 * none begins there. The byte before `at` must not be part of a word. Letters are ASCII:
 *
 *   capitals                order numbers, VAT ids, VINs: AB-12345-X, DE123456789, D-10115,
 * B0GZ44Y6 a to f                  hashes, UUIDs, MAC addresses: 9f86d081, be:a9:c1:0b:0c:c2 any,
 * without a sign     tokens: pu0M069vE6SDse16
 *
 * Not a code: COVID-19, 500GB, 10AM-12PM, 1990s, 20h30. */
size_t dg_identifier_end(const char *s, size_t at, size_t end);

#endif
