/* Codes of letters and digits in running text, and names of a program: 9f86d081, INV-2024-00123,
 * parseInt. Any thread. */
#ifndef DG_TEXT_PROTECTED_IDENTIFIER_H
#define DG_TEXT_PROTECTED_IDENTIFIER_H

#include <stddef.h>

/* Returns the end of the code that begins at byte `at` of s, reading no further than `end`; `at` if
 * none begins there. The byte before `at` must not be part of a word. Letters are ASCII:
 *
 *   in capitals        order numbers, VAT ids, VINs: AB-12345-X, DE123456789, D-10115, B0GZ44Y6
 *   a to f             hashes, UUIDs, MAC addresses: 9f86d081, be:a9:c1:0b:0c:c2
 *   without a sign     tokens: pu0M069vE6SDse16
 *
 * Not a code: COVID-19, 500GB, 10AM-12PM, 1990s, 20h30. */
size_t dg_identifier_end(const char *s, size_t at, size_t end);

/* The same for names of variables and functions: foo_bar, MAX_VALUE, parseInt, print(). Not a name:
 * iPhone, YouTube, mmHg, studentInnen, nor Pre_ferences, where "_" is the sign of a key. */
size_t dg_identifier_name_end(const char *s, size_t at, size_t end);

#endif
