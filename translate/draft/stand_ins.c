#include "translate/draft/draft.h"

#include "translate/protected/stand_in.h"

#include <ctype.h>
#include <string.h>

/* Remove bytes begin .. end of the text, and a space before them if no word follows directly. */
static void cut(struct dg_draft *d, size_t begin, size_t end)
{
    const char *const s = d->text.data;
    if (begin > 0 && s[begin - 1] == ' ' && (end == d->text.len || !isalnum((unsigned char)s[end])))
        begin--;
    dg_draft_splice(d, begin, end, "", 0);
}

/* Position of the next occurrence of name[len] from byte `at` on; text->len if there is none. */
static size_t find(const struct dg_buffer *text, size_t at, const char *name, size_t len)
{
    const char *found = at < text->len ? memmem(text->data + at, text->len - at, name, len) : NULL;
    return found ? (size_t)(found - text->data) : text->len;
}

static bool is_word(const struct dg_buffer *text, size_t begin, size_t end)
{
    return (begin == 0 || !isalnum((unsigned char)text->data[begin - 1])) &&
           (end == text->len || !isalnum((unsigned char)text->data[end]));
}

/* Keep the first whole-word occurrence of the name and remove the others. If there is none, keep
 * the first word that begins with it, without the letters attached ("XX1s"). */
static void keep_one(struct dg_draft *d, const char *name)
{
    const struct dg_buffer *text = &d->text;
    const size_t len = strlen(name);
    bool kept = false;
    for (size_t at = 0; (at = find(text, at, name, len)) < text->len;) {
        const bool word = is_word(text, at, at + len);
        if (word && kept)
            cut(d, at, at + len);
        else
            at += len;
        kept = kept || word;
    }
    const size_t at = kept ? text->len : find(text, 0, name, len);
    size_t end = at + len;
    if (at == text->len || (at > 0 && isalnum((unsigned char)text->data[at - 1])))
        return;
    while (end < text->len && isalpha((unsigned char)text->data[end]))
        end++;
    if (end > at + len && is_word(text, at, end))
        cut(d, at + len, end);
}

/* True if the sentence has the word s[n]; "X2" is none in "XX2". */
static bool has_word(const struct dg_shown *shown, const char *s, size_t n)
{
    const char *at = shown->text, *const end = shown->text + shown->len;
    while ((at = memmem(at, (size_t)(end - at), s, n)) != NULL) {
        const bool begins = at == shown->text || !isalnum((unsigned char)at[-1]);
        at += n;
        if (begins && (at == end || !isalnum((unsigned char)*at)))
            return true;
    }
    return false;
}

/* True if s[n] is the remains of a name, such as "X1X1", and is no word of the sentence itself. */
static bool is_garbled(const struct dg_shown *shown, const char *s, size_t n)
{
    size_t digits = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] != 'X' && !isdigit((unsigned char)s[i]))
            return false;
        digits += s[i] != 'X';
    }
    if (s[0] != 'X' || !digits || digits == n || has_word(shown, s, n))
        return false;
    for (size_t i = 0; i < shown->n_stand_ins; i++)
        if (strlen(shown->stand_ins[i].name) == n && memcmp(shown->stand_ins[i].name, s, n) == 0)
            return false;
    return true;
}

/* Remove the remains of garbled names, which no glossary term has: layout/ places those spans
 * elsewhere. */
static void drop_garbled(const struct dg_shown *shown, struct dg_draft *d)
{
    const struct dg_buffer *text = &d->text;
    dg_draft_find_terms(d);
    for (size_t at = 0, end; at < text->len; at = end) {
        for (end = at; end < text->len && isalnum((unsigned char)text->data[end]);)
            end++;
        if (end > at && is_garbled(shown, text->data + at, end - at) &&
            !dg_draft_has_term(d, at, end)) {
            cut(d, at, end);
            end = at > 0 ? at - 1 : at; /* a space before it went, too */
        }
        while (end < text->len && !isalnum((unsigned char)text->data[end]))
            end++;
    }
}

void dg_draft_clean_stand_ins(struct dg_draft *d, const struct dg_shown *shown)
{
    for (size_t i = 0; i < shown->n_stand_ins; i++)
        keep_one(d, shown->stand_ins[i].name);
    if (shown->n_stand_ins && shown->stand_ins[0].source < 0)
        drop_garbled(shown, d);
}
