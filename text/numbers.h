/* Checks that a translation has the numbers of its source, in either language's notation. Texts are
 * UTF-8, digits those of any script. Any thread. */
#ifndef DG_TEXT_NUMBERS_H
#define DG_TEXT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

/* False when one of a[n] and b[m] has a number that the other lacks. Thousands may be set apart or
 * not (1,000; 1 000; 1000), hours be those of a clock or a day (9 pm; 21), years be short (1990s;
 * 90s), numbers be Roman on one side (18th; XVIII); up to twelve, one side may spell what it likes,
 * and noughts may be words (3,000; 3 thousand). Texts of more than 256 numbers are not compared:
 * true. */
bool dg_numbers_agree(const char *a, size_t n, const char *b, size_t m);

#endif
