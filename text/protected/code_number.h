/* Numbers that name something and are not counted: of telephones, accounts, articles. A model loses
 * or doubles some of their digits. Any thread.
 *
 *   +49 (0)30 / 28 47 10 22    01.23.45.67.89    (555) 123-4567    1-800-555-1234    3235606106
 *   SIREN 123 456 789              ID: 123 456 789      n° 123 456 789
 *   978-3-16-148410-0          SIRET 123 456 789 00012             DE89 3704 0044 0532 0130 00
 *
 * Not 1.234.567, 12 345 678, 01/02/2024, 9:30, 3.14159265: these are quantities, dates, times. */
#ifndef DG_TEXT_PROTECTED_CODE_NUMBER_H
#define DG_TEXT_PROTECTED_CODE_NUMBER_H

#include <stddef.h>

/* The end of such a number at s[at], which no letter or digit precedes; `at`: none begins there. */
size_t dg_code_number_end(const char *s, size_t at, size_t end);

#endif
