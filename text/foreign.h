/* Words and signs that a model has no pieces for: "Dvořák", "日本", "50 ℃" come through a
 * translation as they are. Text is valid UTF-8. Any thread. */
#ifndef DG_TEXT_FOREIGN_H
#define DG_TEXT_FOREIGN_H

#include "text/alphabet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The end of such a word, or of several in a row, that begins at byte `at` of s, which looks no
 * further than `end`; `at`: none does. A whole word is taken for one letter of it that nobody
 * knows, and what a sign is written to is taken with it. A sign that is known, or a
 * letter that begins no word, is taken where it is a word by itself, and so is a letter that is
 * cited ("é", (ß), « ç »). ASCII is never foreign. */
size_t dg_foreign_end(const struct dg_alphabet *known, const char *s, size_t at, size_t end);

/* Is it a sign with a meaning of its own (€, °, ½, →, §), outside ASCII; no letter and no
 * punctuation? */
bool dg_foreign_is_sign(int32_t c);

/* Is a sign of s[n], a letter outside the alphabet, one that is a word by itself or one that is
 * cited nowhere in t[m], which should say the same? language: of s; many have words of one such
 * letter ("à"). */
bool dg_foreign_lost(const struct dg_alphabet *known, const char *language, const char *s, size_t n,
    const char *t, size_t m);

#endif
