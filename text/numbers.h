/* Checks that a translation has the numbers of its source, in either language's notation. Texts are
 * UTF-8, with digits of any script. Any thread. */
#ifndef DG_TEXT_NUMBERS_H
#define DG_TEXT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

/* False if one of a[n] and b[m] has a number that the other lacks. Equal numbers may differ in
 * thousands separators (1,000; 1 000; 1000), in the 12- or 24-hour clock (9 pm; 21), in short years
 * (1990s; 90s) or in being Roman on one side (18th; XVIII); one side may spell out numbers up to
 * twelve, and zeros may be words (3,000; 3 thousand). A character reference (&#160;) is a blank.
 * Texts with more than 256 numbers are not compared: true. */
bool dg_numbers_agree(const char *a, size_t n, const char *b, size_t m);

#endif
