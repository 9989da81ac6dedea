/* Foreign words, signs and marks: those that a model has no pieces for ("Dvořák", "50 ℃", "「").
 * They are carried through a translation unchanged. Text is valid UTF-8. Any thread. */
#ifndef DG_TEXT_PROTECTED_FOREIGN_H
#define DG_TEXT_PROTECTED_FOREIGN_H

#include "text/protected/alphabet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the end of the foreign word, or of several in a row, that begins at byte `at` of s,
 * reading no further than `end`; `at` if none begins there. One unknown letter makes its whole word
 * foreign, and a foreign sign takes in whatever it is attached to. A known sign that is a word by
 * itself, a single letter that no known word begins with, and a single cited letter ("é", (ß), « ç
 * ») count as foreign, too, and so do marks: punctuation that is not within a word. ASCII is never
 * foreign. */
size_t dg_foreign_end(const struct dg_alphabet *known, const char *s, size_t at, size_t end);

/* True for a sign with a meaning of its own (€, °, ½, →, §) outside ASCII; neither a letter nor
 * punctuation. */
bool dg_foreign_is_sign(int32_t c);

/* True if t[m], which should have the same meaning as s[n], lacks one of these characters of s: a
 * sign, a "$" beside a number, a mark or a letter outside the alphabet, a letter that is a word by
 * itself, a cited letter. Other ASCII and the sign of "n°" are none; "Euro" says "€". language:
 * that of s; a letter that is a word counts only if the language has no such words ("à"). */
bool dg_foreign_lost(const struct dg_alphabet *known, const char *language, const char *s, size_t n,
    const char *t, size_t m);

#endif
