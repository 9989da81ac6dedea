/* Language-specific data for sentence splitting: abbreviations, words that begin sentences,
 * ordinals with a full stop. Only for text/. Any thread. Languages without a table of their own get
 * the common one. */
#ifndef DG_TEXT_SENTENCES_LANGUAGE_H
#define DG_TEXT_SENTENCES_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

struct dg_language; /* static tables, never freed */

enum dg_abbreviation {
    DG_ABBREVIATION_NONE,
    DG_ABBREVIATION_ALWAYS, /* never ends a sentence: "Dr.", "z. B." */
    /* may end a sentence, but seldom does: "Inc.", "U.S."; does before a word that begins
     * sentences */
    DG_ABBREVIATION_NAME,
    DG_ABBREVIATION_NUMBER, /* precedes a number: "No. 5", "S. 12" */
};

/* The tables for a code such as "de" or "pt-BR"; never NULL. */
const struct dg_language *dg_language_find(const char *code);
bool dg_language_has_tables(const struct dg_language *language);      /* of its own */
bool dg_language_has_ordinal_dot(const struct dg_language *language); /* "3. Mai" */
bool dg_language_starts_sentence(const struct dg_language *language, const char *word, size_t n);
bool dg_language_is_month(const struct dg_language *language, const char *word, size_t n);

/* Class of word[n], which precedes a full stop (not included). Words of several dotted parts are
 * joined: "z.B". */
enum dg_abbreviation dg_language_abbreviation(
    const struct dg_language *language, const char *word, size_t n);

#endif
