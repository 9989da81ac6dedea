/* Notation of numbers by language: 3,200.5 (English), 3.200,5 (German), 3 200,5 (French); from
 * CLDR, for numbers of ASCII digits. Texts are UTF-8. Any thread. */
#ifndef DG_TEXT_NUMBER_STYLE_H
#define DG_TEXT_NUMBER_STYLE_H

#include <stdbool.h>
#include <stddef.h>

/* Longest number that is read, and the bytes that it may be written in. */
enum { DG_NUMBER_DIGITS = 32, DG_NUMBER_BYTES = 96 };

struct dg_number_style; /* static tables, never freed */

/* NULL: not known, as of a region that differs from its language ("de-CH"). */
const struct dg_number_style *dg_number_style_of(const char *language);

/* A number in its digits; the last n_fraction are after the decimal sign. */
struct dg_number {
    char digits[DG_NUMBER_DIGITS];
    size_t n, n_fraction;
    /* thousands are set apart */
    bool grouped;
};

/* The next digits and signs within them at byte `from` of s[n] or later, whatever they mean: dates
 * ("3.4.2014") and versions too, but nothing that is part of a word, a time or a ratio. Returns its
 * end and sets *begin; 0: there is none. */
size_t dg_number_next(const char *s, size_t n, size_t from, size_t *begin);
/* Read all of s[n] as the style writes numbers. False: it does not write them so. */
bool dg_number_read(
    const struct dg_number_style *style, const char *s, size_t n, struct dg_number *out);
/* The number as the style writes it; returns its bytes. */
size_t dg_number_write(
    const struct dg_number_style *style, const struct dg_number *x, char out[DG_NUMBER_BYTES]);
/* Whether the number at s[begin, end) has a decimal point that is not part of a version, a heading
 * or a time ("Windows 8.1", "chapter 2.5", "at 9.30 pm")? Whether the decimal sign is a comma. */
bool dg_number_is_quantity(
    const struct dg_number_style *style, const char *s, size_t n, size_t begin, size_t end);

#endif
