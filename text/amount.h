/* Amounts of money in short forms, of which a model loses digits or signs. Any thread.
 *
 *   $3.2bn  €12.5M  US$5k  12,5 M€  3 500 k€  3,2 Md€
 *   $20-$30  £15.50–£22.75  5€-10€
 *
 * Not $5, 5 €, $20-30, $3 million: models know these. */
#ifndef DG_TEXT_AMOUNT_H
#define DG_TEXT_AMOUNT_H

#include <stddef.h>

/* The end of such an amount at s[at], which no letter or digit precedes; `at`: none begins there.
 */
size_t dg_amount_end(const char *s, size_t at, size_t end);

#endif
