/* Restores the marks, code and line ends of a sentence in its translation: pairs of marks by word
 * alignment, line ends by proportion. Every mark comes back exactly once, and pairs stay properly
 * nested. Any thread. Private to translate/. */
#ifndef DG_TRANSLATE_LAYOUT_DECORATE_H
#define DG_TRANSLATE_LAYOUT_DECORATE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "text/format/document.h"

/* A word of the source and a word of the answer that came from it, by number (words are separated
 * by white space). */
struct dg_word_pair {
    uint32_t source, target;
};
struct dg_word_pairs {
    /* [n] */
    struct dg_word_pair *list;
    size_t n;
};

/* The text written for a mark. */
struct dg_mark_bytes {
    /* [n] what is written for each mark */
    const char *s;
    size_t n;
};

struct dg_decoration {
    /* [len] the sentence as the model saw it */
    const char *text;
    size_t len;
    /* [n] with `at` within text */
    const struct dg_mark *marks;
    /* [n] */
    const struct dg_mark_bytes *bytes;
    /* [n] what the answer may have for each protected span instead of its text: there it stays as
     * it is; n 0: nothing. NULL: for none */
    const struct dg_mark_bytes *instead;
    size_t n;
    /* [answer_len] */
    const char *answer;
    size_t answer_len;
    /* [n_pairs] in any order; none: marks are placed by proportion */
    const struct dg_word_pair *pairs;
    size_t n_pairs;
    /* [n_kept] bytes of the answer, or none, in any order: what protected spans neither replace nor
     * part */
    const struct dg_span *kept;
    size_t n_kept;
    /* number of bytes at the start of the answer that are kept, too; no protected span is before
     * them */
    size_t given;
    /* how the answer's characters are written */
    enum dg_encoding encoding;
};

/* Append the decorated answer. shift (optional, [answer_len + 1]) gets the new position of each
 * byte of the answer, from the start of the appended text. The arena is for scratch. False: no
 * memory. */
bool dg_decorate(
    const struct dg_decoration *d, struct dg_arena *arena, struct dg_buffer *out, size_t *shift);

#endif
