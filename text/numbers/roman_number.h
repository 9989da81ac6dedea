/* Roman numerals: "XVIII", also with a French ordinal's ending ("XVIIIe", "Ier"). Any thread. */
#ifndef DG_TEXT_NUMBERS_ROMAN_NUMBER_H
#define DG_TEXT_NUMBERS_ROMAN_NUMBER_H

#include <stddef.h>

/* The value of the word s[n]; 0 if it is no Roman numeral. ("L" and "C" alone are more likely
 * letters.) */
int dg_roman_number_value(const char *s, size_t n);

#endif
