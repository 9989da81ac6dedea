#include "translate/part_titles.h"

#include "text/language_code.h"
#include "text/scan.h"
#include "text/protected/title.h"
#include "translate/job_internal.h"
#include "translate/part_numbers.h"
#include "translate/terms.h"

#include <string.h>

/* Finds the title that the sentence has before the name s[n]. False: there is none, or there are
 * those of a man and a woman. */
static bool find_meant(
    const struct dg_job *j, const struct dg_part *p, const char *name, size_t n, bool *female)
{
    const size_t len = strlen(p->text);
    bool found = false;
    struct dg_title t;
    for (size_t at = 0; dg_title_next(p->text, len, at, &t); at = t.end) {
        if (t.is_word || !dg_language_same(t.language, j->language) || t.name_end - t.name != n ||
            memcmp(p->text + t.name, name, n) != 0)
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
static void fit_adjective(
    struct dg_buffer *text, size_t from, size_t *at, bool female, size_t *ends, size_t n)
{
    static const struct ending adjectives[] = {{"geehrter", "geehrte"}, {"Lieber", "Liebe"},
        {"lieber", "liebe"}, {"Werter", "Werte"}, {"Cher", "Chère"}, {"cher", "chère"}};
    const size_t end = dg_scan_trim_space(text->data, from, *at);
    size_t begin = end;
    while (begin > from && text->data[begin - 1] != ' ')
        begin--;
    for (size_t k = 0; k < sizeof adjectives / sizeof *adjectives; k++) {
        const struct ending *a = &adjectives[k];
        const char *const is = female ? a->man : a->woman, *const wanted =
                                                               female ? a->woman : a->man;
        if (strlen(is) != end - begin || memcmp(text->data + begin, is, end - begin) != 0)
            continue;
        dg_part_splice(text, (size_t[2]){begin, end}, wanted, strlen(wanted), ends, n);
        *at = *at - strlen(is) + strlen(wanted);
        return;
    }
}

/* True if title t of an answer is the wrong one. English titles are used in other languages, too.
 */
static bool is_wrong(const struct dg_job *j, const struct dg_title *t, bool female)
{
    return t->is_word || t->female != female ||
           (!dg_language_same(t->language, j->target_language) &&
               !(dg_language_same(t->language, "en") && dg_language_same(j->language, "en")));
}

void dg_part_write_titles(const struct dg_job *j, const struct dg_part *p, struct dg_buffer *text,
    size_t from, size_t *ends, size_t n)
{
    struct dg_term_places terms;
    struct dg_title t;
    if (!p->text || text->len == from || !dg_title_of(j->language, true) ||
        !dg_title_of(j->target_language, true) || !dg_title_next(p->text, strlen(p->text), 0, &t))
        return;
    dg_part_place_terms(p, text->data + from, text->len - from, &terms);
    for (size_t at = from; !text->failed && dg_title_next(text->data, text->len, at, &t);
         at = t.end) {
        bool female = false;
        if (t.begin < from ||
            dg_term_places_touch(&terms, text->len - from, t.begin - from, t.name_end - from) ||
            !find_meant(j, p, text->data + t.name, t.name_end - t.name, &female) ||
            !is_wrong(j, &t, female))
            continue;
        const char *const written = dg_title_of(j->target_language, female);
        const size_t len = t.end - t.begin;
        fit_adjective(text, from, &t.begin, female, ends, n);
        dg_part_splice(
            text, (size_t[2]){t.begin, t.begin + len}, written, strlen(written), ends, n);
        t.end = t.begin + strlen(written);
    }
}
