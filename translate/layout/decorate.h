/* Marks, code and line ends of a sentence put back around its translation: what a pair of marks
 * enclosed is found through the alignment of words, line ends by proportion. Every mark comes back
 * exactly once, and pairs stay properly within one another. Any thread. Private to translate/.
 */
#ifndef DG_TRANSLATE_LAYOUT_DECORATE_H
#define DG_TRANSLATE_LAYOUT_DECORATE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "text/format/document.h"

/* A word of the source that a word of the answer came from, by number (words have no white space
 * in them). */
struct dg_word_pair {
    uint32_t source, target;
};
struct dg_word_pairs {
    /* [n] */
    struct dg_word_pair *list;
    size_t n;
};

/* What is written for a mark. */
struct dg_mark_bytes {
    const char *s; /* [n] */
    size_t n;
};

struct dg_decoration {
    const char *text; /* [len] the sentence as it was translated */
    size_t len;
    const struct dg_mark *marks;       /* [n] with `at` within text */
    const struct dg_mark_bytes *bytes; /* [n] */
    size_t n;
    const char *answer; /* [answer_len] */
    size_t answer_len;
    const struct dg_word_pair *pairs; /* [n_pairs], in any order; none: by proportion */
    size_t n_pairs;
    enum dg_encoding encoding; /* how the answer's characters are written */
};

/* Append the decorated answer. shift (optional, [answer_len + 1]) gets where each byte of the
 * answer went, counted from the start of what was appended. The arena is for scratch. False: no
 * memory. */
bool dg_decorate(
    const struct dg_decoration *d, struct dg_arena *arena, struct dg_buffer *out, size_t *shift);

#endif
