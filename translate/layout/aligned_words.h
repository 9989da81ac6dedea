/* The words of a sentence and of its answer, and their alignment: attention's word pairs, reduced
 * to one source word for each word of the answer. One thread at a time; all of it lives as long as
 * the arena. Private to translate/layout. */
#ifndef DG_TRANSLATE_LAYOUT_ALIGNED_WORDS_H
#define DG_TRANSLATE_LAYOUT_ALIGNED_WORDS_H

#include "translate/layout/decorate.h"

#include <stdbool.h>
#include <stdint.h>

#define DG_NO_WORD UINT32_MAX

struct dg_words {
    /* [n] bytes of each word; words are separated by white space and contain none */
    struct {
        size_t begin, end;
    } * list;
    uint32_t n;
};

struct dg_aligned_words {
    struct dg_words source, answer;
    /* [answer.n] the source word that it came from, or DG_NO_WORD */
    uint32_t *from;
    /* [source.n] one past the last word of the answer that came from it, or 0 */
    uint32_t *after;
    /* length of the source's text; at least 1 */
    size_t len;
};

/* False: no memory. */
bool dg_aligned_words_find(
    const struct dg_decoration *d, struct dg_arena *arena, struct dg_aligned_words *out);

/* True if word i overlaps bytes begin .. end. */
bool dg_words_overlap(const struct dg_words *w, uint32_t i, size_t begin, size_t end);
/* Find the words, first .. past - 1, that overlap bytes begin .. end; none: *first = *past = 0. */
void dg_words_range(
    const struct dg_words *w, size_t begin, size_t end, uint32_t *first, uint32_t *past);

/* The word of the answer at the same relative position as byte `at` of the source. answer.n > 0. */
uint32_t dg_aligned_words_proportion(const struct dg_aligned_words *w, size_t at);

/* How badly words first .. past - 1 of the answer fit bytes begin .. end of the source: the
 * relative difference in number of words plus the distance in relative position. Attention strays,
 * and stray words are mostly far away. */
double dg_aligned_words_misfit(
    const struct dg_aligned_words *w, const size_t bytes[2], uint32_t first, uint32_t past);

#endif
