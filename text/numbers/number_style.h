/* Notation of numbers by language: 3,200.5 (English), 3.200,5 (German), 3 200,5 (French); from
 * CLDR, for numbers of ASCII digits. Texts are UTF-8. Any thread. */
#ifndef DG_TEXT_NUMBERS_NUMBER_STYLE_H
#define DG_TEXT_NUMBERS_NUMBER_STYLE_H

#include <stdbool.h>
#include <stddef.h>

/* Maximum digits of a number that is read, and maximum bytes of one that is written. */
enum { DG_NUMBER_DIGITS = 32, DG_NUMBER_BYTES = 96 };

struct dg_number_style; /* static tables, never freed */

/* The style of a language; NULL: unknown, as for a region that differs from its language
 * ("de-CH"). */
const struct dg_number_style *dg_number_style_of(const char *language);

/* The styles of a sentence's language and of its translation's. */
struct dg_number_styles {
    const struct dg_number_style *source, *target;
};
/* False: one of them is not known, or both are the same. */
bool dg_number_styles_find(const char *source, const char *target, struct dg_number_styles *out);

/* Where a language writes a currency's sign: "$5", or "5 $" with a space where no line breaks. */
enum dg_sign_side { DG_SIGN_ANYWHERE, DG_SIGN_BEFORE, DG_SIGN_AFTER };
enum dg_sign_side dg_number_sign_side(const char *language);

/* The digits of a number; the last n_fraction are after the decimal sign. */
struct dg_number {
    char digits[DG_NUMBER_DIGITS];
    size_t n, n_fraction;
    /* thousands are separated */
    bool grouped;
};

/* Find the next run of digits and signs between them from byte `from` of s[n] on, whatever it
 * means: also dates ("3.4.2014") and versions, but nothing that is part of a word, a time or a
 * ratio. Returns its end and sets *begin; 0 if there is none. */
size_t dg_number_next(const char *s, size_t n, size_t from, size_t *begin);
/* Read all of s[n] in the style's notation. False: it is not such a number. */
bool dg_number_read(
    const struct dg_number_style *style, const char *s, size_t n, struct dg_number *out);
/* Write the number in the style's notation; returns the number of bytes. */
size_t dg_number_write(
    const struct dg_number_style *style, const struct dg_number *x, char out[DG_NUMBER_BYTES]);
/* True if the number at s[begin, end) is a quantity. False if it has a point and is part of a
 * version, a heading or a time ("Windows 8.1", "chapter 2.5", "at 9.30 pm"), which only a style
 * with a decimal point checks. */
bool dg_number_is_quantity(
    const struct dg_number_style *style, const char *s, size_t n, size_t begin, size_t end);

#endif
