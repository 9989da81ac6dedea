#include "translate/draft/draft.h"

#include "text/scan.h"
#include "text/protected/title.h"

#include <string.h>

/* Finds the title that the sentence has before the name s[n]. False: there is none, or there are
 * those of a man and a woman. */
static bool find_meant(const struct dg_draft *d, const char *name, size_t n, bool *female)
{
    const enum dg_word_language from = dg_word_language_of(d->from);
    const size_t len = strlen(d->sentence);
    bool found = false;
    struct dg_title t;
    for (size_t at = 0; dg_title_next(d->sentence, len, at, &t); at = t.end) {
        if (t.is_word || t.language != from || t.name_end - t.name != n ||
            memcmp(d->sentence + t.name, name, n) != 0)
            continue;
        if (t.is_noun || (found && *female != t.female))
            return false;
        *female = t.female;
        found = true;
    }
    return found;
}

/* The last letters of adjectives before a title, of a man and of a woman. */
struct ending {
    const char *man, *woman;
};

/* Makes the adjective before byte *at of the answer fit the title of a woman or a man, and moves
 * *at along. */
static void fit_adjective(struct dg_draft *d, size_t *at, bool female)
{
    const char *const s = d->text.data;
    static const struct ending adjectives[] = {{"geehrter", "geehrte"}, {"Lieber", "Liebe"},
        {"lieber", "liebe"}, {"Werter", "Werte"}, {"Cher", "Chère"}, {"cher", "chère"}};
    const size_t end = dg_scan_trim_space(s, 0, *at);
    size_t begin = end;
    while (begin > 0 && s[begin - 1] != ' ')
        begin--;
    for (size_t k = 0; k < sizeof adjectives / sizeof *adjectives; k++) {
        const struct ending *a = &adjectives[k];
        const char *const is = female ? a->man : a->woman, *const wanted =
                                                               female ? a->woman : a->man;
        if (strlen(is) != end - begin || memcmp(s + begin, is, end - begin) != 0)
            continue;
        dg_draft_splice(d, begin, end, wanted, strlen(wanted));
        *at = *at - strlen(is) + strlen(wanted);
        return;
    }
}

/* True if title t of an answer is the wrong one. English titles are used in other languages, too.
 */
static bool is_wrong(const struct dg_draft *d, const struct dg_title *t, bool female)
{
    return t->is_word || t->female != female ||
           (t->language != dg_word_language_of(d->to) &&
               !(t->language == DG_ENGLISH && dg_word_language_of(d->from) == DG_ENGLISH));
}

void dg_draft_write_titles(struct dg_draft *d)
{
    const enum dg_word_language to = dg_word_language_of(d->to);
    struct dg_title t;
    if (d->text.len == 0 || to == DG_WORD_LANGUAGES ||
        !dg_title_next(d->sentence, strlen(d->sentence), 0, &t))
        return;
    dg_draft_find_terms(d);
    for (size_t at = 0; !d->text.failed && dg_title_next(d->text.data, d->text.len, at, &t);
         at = t.end) {
        bool female = false;
        if (dg_draft_has_term(d, t.begin, t.name_end) ||
            !find_meant(d, d->text.data + t.name, t.name_end - t.name, &female) ||
            !is_wrong(d, &t, female))
            continue;
        const char *const written = dg_title_of(to, female);
        const size_t len = t.end - t.begin;
        fit_adjective(d, &t.begin, female);
        dg_draft_splice(d, t.begin, t.begin + len, written, strlen(written));
        t.end = t.begin + strlen(written);
    }
}
