/* Compares language codes as people write them: those of requests with those that models are served
 * under, and those of glossaries and translation memories with both. The rule:
 *   letter case does not matter, '_' is '-', a three-letter code of ISO 639-2 is its two-letter
 *   one ("EN", "de_DE", "eng", "ger"), a withdrawn code is the current one ("iw", "he"), and
 *   "zh-CN" has the script that its region writes, zh-Hans;
 *   then the same code is nearest; next, the code asked for may lose subtags from its end ("en-GB"
 *   finds "en", RFC 4647's lookup); last, it may be the beginning of the other ("pt" finds
 *   "pt-BR").
 * Pure; any thread. */
#ifndef DG_TEXT_LANGUAGE_CODE_H
#define DG_TEXT_LANGUAGE_CODE_H

#include <stdbool.h>

#define DG_LANGUAGE_MAX 36 /* bytes of a code, with NUL */
#define DG_LANGUAGE_WIDER 100

/* The canonical form of a code, which is what is compared; it is its own canonical form. False: too
 * long for a code. */
bool dg_language_canonical(const char *code, char out[DG_LANGUAGE_MAX]);

/* The code as files have it: "DE" -> "de", "pt_br" -> "pt-BR", "zh-hant" -> "zh-Hant", "deu" ->
 * "de". False: too long for a code. */
bool dg_language_usual(const char *code, char out[DG_LANGUAGE_MAX]);

/* Distance of a served code from the requested one: 0: the same; n: the requested code loses n
 * subtags; DG_LANGUAGE_WIDER + n: the served code has n more subtags; -1: another language. */
int dg_language_distance(const char *asked, const char *served);

/* The same for codes in canonical form; -1 where one is "". */
int dg_language_canonical_distance(const char *asked, const char *served);

/* True if the requested code says more than the served one at this distance from it ("en-US" than
 * "en"). */
bool dg_language_says_more(int distance);

/* True if both codes name the same language as far as both specify it ("en", "en-US"), in any
 * order: one finds the other. */
bool dg_language_same(const char *a, const char *b);

#endif
