/* Cleans an answer's stand-ins: keeps each once, and removes the remains of garbled names. One
 * thread at a time per job. */
#include "translate/stand_in.h"

#include "translate/job_internal.h"
#include "translate/terms.h"

#include <ctype.h>
#include <string.h>

/* Remove bytes begin .. end of the text, and a space before them if no word follows directly;
 * shifts ends[n]. */
static void cut(
    struct dg_buffer *text, size_t from, size_t begin, size_t end, size_t *ends, size_t n)
{
    if (begin > from && text->data[begin - 1] == ' ' &&
        (end == text->len || !isalnum((unsigned char)text->data[end])))
        begin--;
    memmove(text->data + begin, text->data + end, text->len - end);
    text->len -= end - begin;
    text->data[text->len] = '\0';
    for (size_t i = 0; i < n; i++)
        if (ends[i] > begin)
            ends[i] = ends[i] > end ? ends[i] - (end - begin) : begin;
}

/* Position of the next occurrence of name[len] from byte `at` on; text->len if there is none. */
static size_t find(const struct dg_buffer *text, size_t at, const char *name, size_t len)
{
    const char *found = at < text->len ? memmem(text->data + at, text->len - at, name, len) : NULL;
    return found ? (size_t)(found - text->data) : text->len;
}

static bool is_word(const struct dg_buffer *text, size_t from, size_t begin, size_t end)
{
    return (begin == from || !isalnum((unsigned char)text->data[begin - 1])) &&
           (end == text->len || !isalnum((unsigned char)text->data[end]));
}

/* Keep the first whole-word occurrence of the name and remove the others. If there is none, keep
 * the first word that begins with it, without the letters attached ("XX1s"). */
static void keep_one(struct dg_buffer *text, size_t from, const char *name, size_t *ends, size_t n)
{
    const size_t len = strlen(name);
    bool kept = false;
    for (size_t at = from; (at = find(text, at, name, len)) < text->len;) {
        const bool word = is_word(text, from, at, at + len);
        if (word && kept)
            cut(text, from, at, at + len, ends, n);
        else
            at += len;
        kept = kept || word;
    }
    const size_t at = kept ? text->len : find(text, from, name, len);
    size_t end = at + len;
    if (at == text->len || (at > from && isalnum((unsigned char)text->data[at - 1])))
        return;
    while (end < text->len && isalpha((unsigned char)text->data[end]))
        end++;
    if (end > at + len && is_word(text, from, at, end))
        cut(text, from, at + len, end, ends, n);
}

/* True if the sentence has the word s[n]; "X2" is none in "XX2". */
static bool has_word(const struct dg_part *p, const char *s, size_t n)
{
    const char *at = p->shown, *const end = p->shown + p->shown_len;
    while ((at = memmem(at, (size_t)(end - at), s, n)) != NULL) {
        const bool begins = at == p->shown || !isalnum((unsigned char)at[-1]);
        at += n;
        if (begins && (at == end || !isalnum((unsigned char)*at)))
            return true;
    }
    return false;
}

/* True if s[n] is the remains of a name, such as "X1X1", and is no word of the sentence itself. */
static bool is_garbled(const struct dg_part *p, const char *s, size_t n)
{
    size_t digits = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] != 'X' && !isdigit((unsigned char)s[i]))
            return false;
        digits += s[i] != 'X';
    }
    if (s[0] != 'X' || !digits || digits == n || has_word(p, s, n))
        return false;
    for (size_t i = 0; i < p->n_stand_ins; i++)
        if (strlen(p->stand_ins[i].name) == n && memcmp(p->stand_ins[i].name, s, n) == 0)
            return false;
    return true;
}

/* Remove the remains of garbled names, which no glossary term has: layout/ places those spans
 * elsewhere. */
static void drop_garbled(
    const struct dg_part *p, struct dg_buffer *text, size_t from, size_t *ends, size_t n)
{
    struct dg_term_places terms;
    dg_part_place_terms(p, text->data + from, text->len - from, &terms);
    for (size_t at = from, end; at < text->len; at = end) {
        for (end = at; end < text->len && isalnum((unsigned char)text->data[end]);)
            end++;
        if (end > at && is_garbled(p, text->data + at, end - at) &&
            !dg_term_places_touch(&terms, text->len - from, at - from, end - from)) {
            cut(text, from, at, end, ends, n);
            end = at > from ? at - 1 : at; /* a space before it went, too */
        }
        while (end < text->len && !isalnum((unsigned char)text->data[end]))
            end++;
    }
}

void dg_stand_in_clean(
    const struct dg_part *p, struct dg_buffer *text, size_t from, size_t *ends, size_t n)
{
    for (size_t i = 0; i < p->n_stand_ins && text->len > from; i++)
        keep_one(text, from, p->stand_ins[i].name, ends, n);
    if (p->n_stand_ins && p->stand_ins[0].source < 0 && text->len > from)
        drop_garbled(p, text, from, ends, n);
}
