/* Finds the bytes of the answer that a place covers. */
#include "translate/layout/place.h"
#include "translate/layout/white_space.h"

#include <ctype.h>
#include <string.h>

/* Position of the next s[len] in text[n] from `at` on; n if there is none. */
static size_t find(const char *text, size_t n, size_t at, const char *s, size_t len)
{
    const char *found = at < n ? memmem(text + at, n - at, s, len) : NULL;
    return found ? (size_t)(found - text) : n;
}

static size_t count(const char *text, size_t n, const char *s, size_t len)
{
    size_t k = 0;
    for (size_t at = find(text, n, 0, s, len); at < n; at = find(text, n, at + len, s, len))
        k++;
    return k;
}

/* True if p's letters at begin..end are whole words, or part of a word as in the source. Signs at
 * their ends belong to no word: ":name" is found in "mit:name", too. */
static bool is_beside(
    const struct dg_placing *w, const struct dg_place *p, size_t begin, size_t end)
{
    const struct dg_decoration *d = w->d;
    char before = begin > 0 ? d->answer[begin - 1] : ' ',
         after = end < d->answer_len ? d->answer[end] : ' ';
    /* "v2" does not match in "dev2", unless the source has the same letter before it. */
    if (isalnum((unsigned char)before) && isalnum((unsigned char)d->answer[begin]) &&
        !(p->text_begin > 0 && d->text[p->text_begin - 1] == before))
        return false;
    return !isalnum((unsigned char)after) || !isalnum((unsigned char)d->answer[end - 1]) ||
           (p->text_end < d->len && d->text[p->text_end] == after);
}

static bool is_free(const struct dg_placing *w, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (w->used[i])
            return false;
    return true;
}

static bool find_copy(
    const struct dg_placing *w, struct dg_place *p, const char *letters, size_t len)
{
    const struct dg_decoration *d = w->d;
    size_t skip = 0;
    if (len == 0)
        return false;
    /* Equal numbers of occurrences: the third `x` of the source is the third one here. */
    if (count(d->text, d->len, letters, len) == count(d->answer, d->answer_len, letters, len))
        skip = count(d->text, p->text_begin, letters, len);
    for (size_t at = find(d->answer, d->answer_len, 0, letters, len); at < d->answer_len;
         at = find(d->answer, d->answer_len, at + (skip ? len : 1), letters, len)) {
        if (skip) {
            skip--;
            continue;
        }
        /* Skip letters that another span has taken, or that are part of a word. */
        if (!is_free(w, at, at + len) || !is_beside(w, p, at, at + len))
            continue;
        p->begin_byte = at;
        p->end_byte = at + len;
        p->literal = true;
        dg_words_range(&w->words.answer, at, at + len, &p->first, &p->end);
        return true;
    }
    return false;
}

bool dg_place_find_letters(const struct dg_placing *w, struct dg_place *p)
{
    const struct dg_mark_bytes *instead = w->d->instead;
    const char *const s = w->d->text;
    size_t begin = p->text_begin, end = p->text_end;
    if (find_copy(w, p, s + begin, end - begin))
        return true;
    /* Of "file{0}is", the model sees "file XX1 is": the span has the blanks, which an answer may
     * lack. */
    while (begin < end && dg_white_space(s[begin]))
        begin++;
    while (end > begin && dg_white_space(s[end - 1]))
        end--;
    if (end - begin < p->text_end - p->text_begin && find_copy(w, p, s + begin, end - begin))
        return true;
    p->stays = instead && find_copy(w, p, instead[p->open].s, instead[p->open].n);
    return p->stays;
}

static bool is_punctuation(char c)
{
    return ispunct((unsigned char)c);
}

/* The protected span that replaces both word i of the answer and the one before it, or NULL. */
static const struct dg_place *across(const struct dg_placing *w, uint32_t i)
{
    const struct dg_place *p = i > 0 ? w->replaced_by[i - 1] : NULL;
    return p && p->end > i ? p : NULL;
}

/* Number of signs that end the source's word after p, such as the "," of "m[^1],"; 0 if p is not
 * attached to a word. */
static size_t count_signs(const struct dg_placing *w, const struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    size_t end = p->text_begin, n = 0;
    if (end == 0 || dg_white_space(d->text[end - 1]))
        return 0;
    while (end < d->len && !dg_white_space(d->text[end]))
        end++;
    while (end - n > p->text_end && is_punctuation(d->text[end - n - 1]))
        n++;
    return n;
}

/* Place something without words after a word of the answer, in front of the punctuation that it
 * precedes in the source; if that is within a protected span, after the whole span. A single mark
 * keeps the white space in front of it. */
static void fit_between(const struct dg_placing *w, struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    const struct dg_place *protected = across(w, p->first);
    p->begin_byte = p->first > 0 ? w->words.answer.list[p->first - 1].end : 0;
    /* Between two words that one span replaces: go after the span. */
    if (protected) {
        p->first = p->end = protected->end;
        p->begin_byte = protected->end_byte;
    }
    /* At least one byte of the word stays before it. */
    size_t least = p->first > 0 ? w->words.answer.list[p->first - 1].begin + 1 : 0;
    if (dg_place_is_protected(w, p) && least < d->given)
        least = d->given;
    for (size_t n = count_signs(w, p); n > 0 && p->begin_byte > least; n--) {
        if (!is_punctuation(d->answer[p->begin_byte - 1]) || w->used[p->begin_byte - 1])
            break;
        p->begin_byte--;
    }
    /* "word <br> word": after the space, and followed by one, if the source has both. Brackets and
     * the like, of which the model saw nothing, go after the space, too: "word 「word". */
    const struct dg_mark *mark = &d->marks[p->open];
    bool alone = mark->kind == DG_MARK_POINT || (mark->kind == DG_MARK_PROTECTED && !mark->len);
    if (alone && p->text_begin > 0 && dg_white_space(d->text[p->text_begin - 1]) &&
        p->begin_byte < d->answer_len && dg_white_space(d->answer[p->begin_byte])) {
        p->begin_byte++;
        p->space_after = p->text_begin < d->len && dg_white_space(d->text[p->text_begin]) &&
                         p->begin_byte < d->answer_len && !dg_white_space(d->answer[p->begin_byte]);
    }
    p->end_byte = p->begin_byte;
}

/* Exclude affixes of p's first and last word that are outside the marks in the source, such as "("
 * and ")." of "(`code`).", where the answer has the same bytes. */
static void leave_affixes(const struct dg_placing *w, struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    size_t before = 0, after = 0, n = p->end_byte - p->begin_byte;
    /* Length of the source's word outside the marks on either side. */
    while (before < p->text_begin && !dg_white_space(d->text[p->text_begin - before - 1]))
        before++;
    while (p->text_end + after < d->len && !dg_white_space(d->text[p->text_end + after]))
        after++;
    /* Only equal bytes are excluded: a translated affix cannot be told from the word. */
    if (before && before < n &&
        memcmp(d->answer + p->begin_byte, d->text + p->text_begin - before, before) == 0)
        p->begin_byte += before;
    n = p->end_byte - p->begin_byte;
    if (after && after < n &&
        memcmp(d->answer + p->end_byte - after, d->text + p->text_end, after) == 0)
        p->end_byte -= after;
}

void dg_place_fit(const struct dg_placing *w, struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    if (p->literal)
        return;
    if (p->first == p->end) {
        fit_between(w, p);
        return;
    }
    p->begin_byte = w->words.answer.list[p->first].begin;
    p->end_byte = w->words.answer.list[p->end - 1].end;
    leave_affixes(w, p);
    if (p->text_end == p->text_begin)
        return;
    /* Punctuation that the model attaches to the last or first word belongs to the sentence, not to
     * the marks, unless the marks have some at that end in the source. At least one byte stays. */
    if (!is_punctuation(d->text[p->text_end - 1]))
        while (p->end_byte > p->begin_byte + 1 && is_punctuation(d->answer[p->end_byte - 1]))
            p->end_byte--;
    if (!is_punctuation(d->text[p->text_begin]))
        while (p->begin_byte + 1 < p->end_byte && is_punctuation(d->answer[p->begin_byte]))
            p->begin_byte++;
}
