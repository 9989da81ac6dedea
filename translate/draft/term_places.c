#include "translate/draft/term_places.h"

#include "text/letter_case.h"

/* The term's next occurrence in s[n] from byte `from` on; end 0: none. Letter case must match,
 * except where the sentence is in capitals or the term begins the answer. */
static struct dg_span find_term(
    const struct dg_glossary_match *term, bool any_case, const char *s, size_t n, size_t from)
{
    const size_t m = term->target_len;
    struct dg_span at = {0};
    at.end = dg_glossary_appears(s, n, from, term->target, m, any_case, &at.begin);
    if (at.end || from)
        return at;
    at.end = dg_glossary_appears(s, n, 0, term->target, m, true, &at.begin);
    return at.end <= dg_letter_case_first_letter(s, n) + m ? at : (struct dg_span){0};
}

/* The last of the terms before term i that have its target; i: there is none. */
static size_t same_before(const struct dg_wanted_terms *wanted, size_t i)
{
    for (size_t k = i; k-- > 0;)
        if (wanted->list[k].target == wanted->list[i].target)
            return k;
    return i;
}

void dg_term_places_find(
    const struct dg_wanted_terms *wanted, const char *s, size_t n, struct dg_term_places *out)
{
    out->n = wanted->n;
    out->len = n;
    for (size_t i = 0; i < wanted->n; i++) {
        /* A term that is wanted several times must occur as often. */
        const size_t k = same_before(wanted, i), from = k < i ? out->at[k].end : 0;
        out->at[i] = (struct dg_span){0};
        if (k == i || from)
            out->at[i] = find_term(&wanted->list[i], wanted->any_case, s, n, from);
    }
}

bool dg_term_places_lack(const struct dg_term_places *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (!t->at[i].end)
            return true;
    return false;
}
