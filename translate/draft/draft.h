/* An answer's text before its marks are put back, while it is corrected: a small model writes
 * "3.200" for "3,200", "21:30 Uhr" for "9:30 a.m." and "Mr. Weber" for "Frau Weber", where the
 * sentence says what is right. Each correction leaves glossary terms as they are, and needs nothing
 * but the draft. One thread at a time. Private to translate/. */
#ifndef DG_TRANSLATE_DRAFT_DRAFT_H
#define DG_TRANSLATE_DRAFT_DRAFT_H

#include "base/buffer.h"
#include "base/error.h"
#include "translate/protected/shown.h"
#include "translate/draft/term_places.h"

struct dg_draft {
    struct dg_buffer text;
    /* [n_ends] the byte after each token of the text, ascending; corrections move them along */
    size_t *ends, n_ends;
    /* the sentence that it answers, normalised */
    const char *sentence;
    /* languages of the sentence and of the text */
    const char *from, *to;
    /* the sentence's glossary terms, and where the text had them when they were looked for last */
    const struct dg_wanted_terms *wanted;
    struct dg_term_places terms;
};

/* Replace bytes begin .. end of the text by s[n]. */
void dg_draft_splice(struct dg_draft *d, size_t begin, size_t end, const char *s, size_t n);
void dg_draft_find_terms(struct dg_draft *d);
/* True if bytes begin .. end overlap a term. What is before them may have been corrected since the
 * terms were looked for. */
bool dg_draft_has_term(const struct dg_draft *d, size_t begin, size_t end);

/* Remove characters that mean nothing, unless the sentence or `prefix` (NULL: none) has them:
 * U+FFFD from byte tokens that form no character, U+2047 for unknown tokens, control characters,
 * direction marks and zero-width characters, but for joiners within words and emoji, which Persian
 * and Indic words are spelt with. Of the blanks around each, one goes with it. True if there was
 * any. */
bool dg_draft_drop_stray(struct dg_draft *d, const char *prefix);

/* Put the text in capitals. */
int dg_draft_write_capitals(struct dg_draft *d, struct dg_error *err);

/* Write numbers in the notation of the text's language: one with the digits of a number of the
 * sentence but another value becomes that number. */
void dg_draft_write_numbers(struct dg_draft *d);

/* Restore numbers of which the text lost, added or changed a digit: a small model writes "184.30"
 * for "184,320". A number that the sentence does not have becomes the one number of the sentence
 * that the text lacks and that differs from it in one digit of three. That one has three digits at
 * least and is not a power of ten, for which the text may have a word. */
void dg_draft_restore_digits(struct dg_draft *d);

/* Between English, German and French, correct hours. An hour that is twelve hours off the only hour
 * of the sentence with its minutes becomes that one: "9:30 a.m." is "9:30 Uhr", "18 Uhr" is "6
 * p.m.", "14 bis 18 Uhr" is "2 p.m. to 6 p.m.". So does an hour without its sign ("at 2:" for "um 2
 * Uhr"), and one that lost its minutes gets them back ("15 Uhr" for "3:15 p.m."). They stay if the
 * German or French text has a word such as "abends". An English hour that the model copied into
 * German or French is written as that language does: "9 a.m." becomes "9 Uhr", "9 h". */
void dg_draft_write_hours(struct dg_draft *d);

/* Between English, German and French, correct titles. A title before a name that has a title of the
 * other sex in the sentence becomes the right one, and so do a word such as "wife" and a title of
 * another language (an English one stays where the sentence is English); the adjective before it
 * fits ("geehrte Frau"). */
void dg_draft_write_titles(struct dg_draft *d);

/* Keep one occurrence of each of the sentence's stand-ins: removes repetitions, letters attached to
 * one, and the remains of garbled names. */
void dg_draft_clean_stand_ins(struct dg_draft *d, const struct dg_shown *shown);

/* Restore the case of the sentence's units: "20 Mg" becomes "20 mg". */
void dg_draft_write_units(struct dg_draft *d);

#endif
