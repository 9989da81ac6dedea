/* State shared by places.c, place_words.c (which words) and place_bytes.c (which bytes of them)
 * while the marks of one sentence are placed. One thread at a time. Private to translate/layout. */
#ifndef DG_TRANSLATE_LAYOUT_PLACE_H
#define DG_TRANSLATE_LAYOUT_PLACE_H

#include "translate/layout/aligned_words.h"
#include "translate/layout/places.h"

/* Words first .. end - 1 and bytes of the answer. */
struct dg_extent {
    bool any;
    uint32_t first, end;
    size_t begin_byte, end_byte;
};

struct dg_placing {
    const struct dg_decoration *d;
    struct dg_aligned_words words;
    /* [answer_len + 1] bytes that protected spans replace */
    bool *used;
    /* [words.answer.n] the protected span that replaces the word or a part of it, or NULL */
    const struct dg_place **replaced_by;
    /* [words.answer.n] of a word that is kept, the word after all that are kept with it; else 0 */
    uint32_t *kept;
    /* [n_places] */
    struct dg_place *places;
    size_t n_places;
    /* [answer_len + 1] bytes of pairs that end before the one that separate() looks at */
    bool *taken;
    /* [n_places] what the protected spans within each pair occupy */
    struct dg_extent *spans;
    /* [n] bytes to translate before each mark of d */
    size_t *prose;
    /* [n_places] places by number: those that are open while places are read in order */
    size_t *stack;
};

bool dg_place_is_protected(const struct dg_placing *w, const struct dg_place *p);

/* Find the words that are kept. */
void dg_place_find_kept(struct dg_placing *w);
/* Find the best-fitting run of words that came from p's words (words aligned with nothing may be
 * within it). The run of a pair may hold words that its own protected spans replace, and replaced
 * words aligned with nothing; that of a protected span may not. False: there is none. */
bool dg_place_find_run(const struct dg_placing *w, struct dg_place *p);
/* The number of the word before which a place without words goes: after the word that came from the
 * source word before it; a protected span not within words that are kept together. */
uint32_t dg_place_after_word(const struct dg_placing *w, const struct dg_place *p);

/* Finds a protected span's text that the model copied, or what may be instead of it. If it occurs
 * as often as in the source, occurrences match in order; otherwise each span takes the first free
 * one. Sets words and bytes; false: the answer has none for p. */
bool dg_place_find_letters(const struct dg_placing *w, struct dg_place *p);

/* Bytes of the answer for p's words, without adjacent text, and with punctuation at the ends only
 * if the source has some there. */
void dg_place_fit(const struct dg_placing *w, struct dg_place *p);

#endif
