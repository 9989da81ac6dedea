/* Positions of a sentence's marks in its answer: pairs of marks by word alignment, protected spans
 * by their letters. Pairs stay nested as in the source; nothing begins or ends within a protected
 * span. Line ends and escapes have no place: see decorate.c. One thread at a time. Private to
 * translate/. */
#ifndef DG_TRANSLATE_LAYOUT_PLACES_H
#define DG_TRANSLATE_LAYOUT_PLACES_H

#include "translate/layout/decorate.h"

#include <stdbool.h>
#include <stdint.h>

/* Position of a mark or a pair: words first .. end - 1 of the answer, and bytes begin_byte ..
 * end_byte. */
struct dg_place {
    /* marks; close = open if it is single */
    size_t open, close;
    /* bytes of the source's text */
    size_t text_begin, text_end;
    uint32_t first, end;
    size_t begin_byte, end_byte;
    /* the bytes are final: not to be fitted to words */
    bool literal;
    /* the answer has there what may be instead of it: nothing is written */
    bool stays;
    /* it had white space on both sides: write a space after it */
    bool space_after;
    /* overlaps an earlier pair, so it has no place; its bytes are not valid */
    bool lost;
    /* the innermost pair that holds it, or NULL */
    struct dg_place *outer;
    /* the innermost pair with a width that holds it, or NULL */
    const struct dg_place *wide;
    /* the outermost pair between that and it, or itself */
    const struct dg_place *outermost;
};

struct dg_places {
    /* in the order of their marks: a pair comes before the places within it */
    struct dg_place *list;
    size_t n;
};

/* The places of d's marks; they live as long as the arena. False: no memory. */
bool dg_places_find(const struct dg_decoration *d, struct dg_arena *arena, struct dg_places *out);

bool dg_place_is_pair(const struct dg_place *p);

/* True if it covers any text; false if it is lost. */
bool dg_place_has_width(const struct dg_place *p);

#endif
