/* Amounts of money and large numbers, of which a model loses digits or signs. Any thread.
 *
 *   €1,250.00  19,90 €  £450  US$ 1,250  -$99.00      a price of three digits or more
 *   $5/month  5,- €  CHF 20.–                         or per something, or without cents
 *   $3.2bn  €12.5M  12,5 M€  3 500 k€  3,2 Md€        short forms
 *   $20-$30  £15.50–£22.75  5€-10€                    ranges
 *   5 €/kg  0.5 ml/kg                                  per kilogram
 *   1,234,567  12 345 678,5  1.234.567               numbers of two groups of thousands or more
 *
 * Not $5, 5 €, $20-30, $100 million: models know these. */
#ifndef DG_TEXT_PROTECTED_AMOUNT_H
#define DG_TEXT_PROTECTED_AMOUNT_H

#include <stdbool.h>
#include <stddef.h>

/* The end of such an amount at s[at], which no letter or digit precedes; `at`: none begins there.
 */
size_t dg_amount_end(const char *s, size_t at, size_t end);

/* True if all of s[n] is such an amount. */
bool dg_amount_is(const char *s, size_t n);

/* A price: a number with a currency's sign ($, US$; not EUR) before or after it, as bytes of a
 * text, which may begin with a minus sign. */
struct dg_price {
    size_t sign, sign_end, number, number_end;
    /* "/kg" may follow it */
    size_t end;
};

/* True if all of s[n] is a price, neither in a short form nor a range. */
bool dg_amount_is_price(const char *s, size_t n, struct dg_price *out);

#endif
