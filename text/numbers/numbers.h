/* Checks that a translation has the numbers of its source, in either language's notation. Texts are
 * UTF-8, with digits of any script. Any thread. */
#ifndef DG_TEXT_NUMBERS_NUMBERS_H
#define DG_TEXT_NUMBERS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

/* A text of n bytes. language: its code; NULL: not known. */
struct dg_numbered {
    const char *s;
    size_t n;
    const char *language;
};

/* False if one of a and b has a number that the other lacks, or has it more often. Equal numbers
 * may differ in thousands separators (1,000; 1 000; 1000; but 17 24 is not 17.24), in the clock
 * (text/numbers/clock.h: 9 pm and 21 Uhr; not 9 am), in short years (1990s; 90s) or in being Roman
 * on one side (18th; XVIII); one side may spell out numbers up to twelve, and noughts may be words
 * (3,000; 3 thousand). A side in a language that text/numbers/number_words.h has words of must have
 * one of them; one in another language may lack small numbers, unless both lack some. A character
 * reference (&#160;) is a blank. Texts with more than 256 numbers are not compared: true. */
bool dg_numbers_agree(const struct dg_numbered *a, const struct dg_numbered *b);

#endif
