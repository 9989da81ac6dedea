/* What the model sees of a sentence where it is not the source's bytes: its text, without the marks
 * that are put back into the answer, and with stand-ins in place of protected spans. One thread at
 * a time. Private to translate/. */
#ifndef DG_TRANSLATE_PROTECTED_SHOWN_H
#define DG_TRANSLATE_PROTECTED_SHOWN_H

#include "translate/layout/decorate.h"

struct dg_shown {
    /* [len]; NULL: the model sees the source's bytes */
    const char *text;
    size_t len;
    /* [n_marks] marks to put back around the answer, with `at` within text */
    struct dg_mark *marks;
    size_t n_marks;
    /* [n_marks] each mark's letters before a stand-in took their place, with character references
     * read; n 0: they name something, as telephone numbers do. NULL without marks */
    struct dg_mark_bytes *letters;
    /* [n_stand_ins] words in place of protected letters in `text`; NULL: none */
    struct dg_stand_in *stand_ins;
    size_t n_stand_ins;
};

/* The byte of the source that corresponds to byte `at` of the text, which begins at byte `begin` of
 * the source. after: past a mark without text at that position, else before it. */
size_t dg_shown_source(const struct dg_shown *shown, size_t begin, size_t at, bool after);

/* True if a letter or a digit begins at byte `at` of the text (before: ends there). */
bool dg_shown_touches_word(const struct dg_shown *shown, size_t at, bool before);

#endif
